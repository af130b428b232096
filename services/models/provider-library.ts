/**
 * Where the libraries that talk to model providers are loaded, each on its first use: a server whose sessions are all on
 * the demo never loads one.
 */
import type { createAnthropic } from '@ai-sdk/anthropic';
import type { createOpenAI } from '@ai-sdk/openai';
import type { OpenAICompatibleProviderSettings, createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { Agent } from 'undici';

type CreateOpenAiCompatible = typeof createOpenAICompatible;
export type LoadOpenAiCompatible = () => Promise<CreateOpenAiCompatible>;

export type LoadOpenAi = () => Promise<typeof createOpenAI>;
export type LoadAnthropic = () => Promise<typeof createAnthropic>;

/** The way out to a provider: one request for one call. */
export type ProviderFetch = NonNullable<OpenAICompatibleProviderSettings['fetch']>;

export type OpenAiCompatibleModel = ReturnType<ReturnType<CreateOpenAiCompatible>['chatModel']>;
export type ProviderCallOptions = Parameters<OpenAiCompatibleModel['doStream']>[0];
export type ProviderStreamPart =
  Awaited<ReturnType<OpenAiCompatibleModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

export const loadOpenAi: LoadOpenAi = async () => (await import('@ai-sdk/openai')).createOpenAI;
export const loadAnthropic: LoadAnthropic = async () => (await import('@ai-sdk/anthropic')).createAnthropic;

export const loadOpenAiCompatible: LoadOpenAiCompatible = async () =>
  (await import('@ai-sdk/openai-compatible')).createOpenAICompatible;

/** The library's `fetch`, told which connections to use. Its types and those that Node declares are of two versions. */
type FetchOver = (
  input: Parameters<ProviderFetch>[0],
  init: Omit<RequestInit, 'dispatcher'> & { readonly dispatcher: Agent },
) => Promise<Response>;

export interface HttpLibrary {
  readonly Agent: typeof Agent;
  readonly fetchOver: FetchOver;
}

export async function loadHttpLibrary(): Promise<HttpLibrary> {
  const { Agent, fetch } = await import('undici');
  return { Agent, fetchOver: fetch as FetchOver };
}

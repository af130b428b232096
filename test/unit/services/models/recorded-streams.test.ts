/**
 * The streams that real providers sent, served as they might come: in writes of every size, with pauses, and broken off.
 * What comes through is what was recorded, or nothing does.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ModelOutcome } from '../../../../services/models/model-provider.ts';
import { gate } from '../../../support/gate.ts';
import { runsSlowTests } from '../../../support/slow-tests.ts';
import { ANTHROPIC, OPENAI_CHAT, type Protocol } from '../../../support/provider-protocols.ts';
import { joined, messageOf, ProviderStage } from './provider-stage.ts';

const FOLDER = path.join(path.resolve(process.env['BRAIN_TEST_DATA'] ?? '../shared/data'), 'provider-streams');

interface Recording {
  readonly name: string;
  readonly protocol: Protocol;
  /** As they are written on the wire. */
  readonly events: readonly string[];
  /** What they say, told from the events in the plainest way. */
  readonly said: Record<string, string>;
  /** How many of them have to come for the answer to be whole. */
  readonly wholeAfter: number;
}

const recordings: readonly Recording[] = [
  ...linesIn('openai-chat').map(({ name, lines }): Recording => {
    const events = [...lines, '[DONE]'].map((line) => `data: ${line}\n\n`);
    const wholeAfter = lines.findIndex((line) => typeof parse(line).choices?.[0]?.finish_reason === 'string') + 1;
    return { name, protocol: OPENAI_CHAT, events, said: saidIn(lines, chatPieces), wholeAfter };
  }),
  ...linesIn('anthropic-messages').map(({ name, lines }): Recording => {
    const events = lines.map((line) => `event: ${parse(line).type ?? ''}\ndata: ${line}\n\n`);
    return { name, protocol: ANTHROPIC, events, said: saidIn(lines, anthropicPieces), wholeAfter: lines.length };
  }),
];

let stage = new ProviderStage();
afterEach(async () => {
  await stage.close();
});

describe.skipIf(recordings.length === 0)('recorded streams (skipped where BRAIN_TEST_DATA names no folder that has them)', () => {
  it.each(recordings)('$name comes out as what its events say, in writes of any size', async ({ protocol, events, said }) => {
    stage = new ProviderStage(protocol);
    const stream = events.join('');
    const sizes = stream.length < 5_000 ? [1, 2, 3, 5, 17, 4096] : [97, 997, 100_000];
    const outcomes: ModelOutcome[] = [];
    for (const bytesPerWrite of sizes) {
      const { outcome, deltas } = await stage.call({ steps: [{ send: stream, bytesPerWrite }] });
      expect(joined(deltas)).toEqual(said);
      expect(textsOf(outcome)).toEqual(said);
      outcomes.push(outcome);
    }
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
  });

  it.skipIf(!runsSlowTests).each(recordings)('$name comes out the same one byte at a time', { timeout: 60_000 }, async ({ protocol, events, said }) => {
    stage = new ProviderStage(protocol);
    const { outcome } = await stage.call({ steps: [{ send: events.join(''), bytesPerWrite: 1 }] });

    expect(textsOf(outcome)).toEqual(said);
  });

  it.each(recordings)('$name comes out whole after a pause in the middle, and says what came before it', async ({ protocol, events, said }) => {
    stage = new ProviderStage(protocol);
    const half = Math.floor(events.length / 2);
    const [before, cut, after] = [events.slice(0, half).join(''), events[half] ?? '', events.slice(half + 1).join('')];
    const resume = gate();
    const server = await stage.serve({ steps: [{ send: before + cut.slice(0, 20) }, { hold: resume.opened }, { send: cut.slice(20) + after }] });
    let isOver = false;
    const asked = stage.ask(`${server.url}/v1`).finally(() => (isOver = true));

    await until(() => server.requests.length === 1);
    expect(isOver).toBe(false);
    resume.open();

    expect(textsOf(await asked)).toEqual(said);
  });

  it.each(recordings)('$name is whole or unknown, wherever it is cut between two events or within one', async ({ protocol, events, wholeAfter }) => {
    stage = new ProviderStage(protocol);
    const whole = (await stage.call({ steps: [{ send: events.join('') }] })).outcome;
    // Of the long ones, every so many events and the last ones.
    const step = Math.ceil(events.length / 40);
    const cuts = events.map((_event, index) => index).filter((index) => index % step === 0 || index > events.length - 6);
    for (const count of cuts) {
      const before = events.slice(0, count).join('');
      const next = events[count] ?? '';
      for (const [send, end] of [
        [before, 'lost'],
        [before, 'complete'],
        [before + next.slice(0, Math.floor(next.length / 2)), 'reset'],
        [before + next.slice(0, -2), 'mid_chunk'],
      ] as const) {
        const { outcome, requests } = await stage.call({ steps: [{ send }, { end }] });

        expect(requests()).toBe(1);
        if (outcome.outcome === 'ended') {
          expect(count).toBeGreaterThanOrEqual(wholeAfter);
          expect(outcome.message).toEqual(messageOf(whole));
        } else {
          expect(outcome.outcome).toBe('unknown');
        }
      }
    }
  });
});

interface Line {
  readonly type?: string;
  readonly delta?: { readonly text?: string; readonly partial_json?: string };
  readonly choices?: readonly {
    readonly finish_reason?: string | null;
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly tool_calls?: readonly { readonly function?: { readonly arguments?: string } }[];
    };
  }[];
}

type Pieces = (line: Line) => Readonly<Record<string, string | null | undefined>>;

function chatPieces({ choices }: Line): ReturnType<Pieces> {
  const delta = choices?.[0]?.delta;
  return { text: delta?.content, reasoning: delta?.reasoning_content, tool_input: delta?.tool_calls?.[0]?.function?.arguments };
}

function anthropicPieces({ delta }: Line): ReturnType<Pieces> {
  return { text: delta?.text, tool_input: delta?.partial_json };
}

function saidIn(lines: readonly string[], pieces: Pieces): Record<string, string> {
  const said: Record<string, string> = {};
  for (const [kind, text] of lines.flatMap((line) => Object.entries(pieces(parse(line))))) {
    if (typeof text === 'string' && text !== '') said[kind] = (said[kind] ?? '') + text;
  }
  return said;
}

function textsOf(outcome: ModelOutcome): Record<string, string> {
  const said: Record<string, string> = {};
  for (const block of messageOf(outcome).content) {
    const [kind, text] = block.type === 'tool_use' ? ['tool_input', block.input_text] : 'text' in block ? [block.type, block.text] : ['', ''];
    if (text !== '') said[kind] = (said[kind] ?? '') + text;
  }
  return said;
}

function linesIn(protocol: string): readonly { readonly name: string; readonly lines: readonly string[] }[] {
  const folder = path.join(FOLDER, protocol);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => ({ name, lines: readFileSync(path.join(folder, name), 'utf8').split('\n').filter((line) => line !== '') }));
}

function parse(line: string): Line {
  return JSON.parse(line) as Line;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

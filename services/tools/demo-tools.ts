/** The demo's own tools: what a session on `demo/echo` can call on a machine without any other. */
import type { JsonObject, JsonValue } from '../../machines/messages.ts';
import type { Clock } from '../ports.ts';
import type { Tool } from './tool.ts';
import { utcTime } from '../../machines/utc-time.ts';

// Longer than any deadline that a deployment is likely to give a tool, and far below what a timer can count.
const WAIT_SECONDS_MAX = 86_400;

export function demoTools(clock: Clock): readonly Tool[] {
  return [currentTime(clock), ADD, wait(clock)];
}

function currentTime(clock: Clock): Tool {
  return {
    name: 'current_time',
    description: 'Tells the current time, in UTC.',
    input_schema: { type: 'object', properties: {}, additionalProperties: false },
    effect: 'read',
    run: async () => utcTime(clock.now()),
  };
}

const ADD: Tool = {
  name: 'add',
  description: 'Adds numbers up.',
  input_schema: {
    type: 'object',
    properties: { numbers: { type: 'array', items: { type: 'number' }, description: 'The numbers to add.' } },
    required: ['numbers'],
    additionalProperties: false,
  },
  effect: 'read',
  run: async (input) => {
    const numbers = parseNumbers(input);
    // Fifteen digits are those that a double keeps: 0.1 and 0.2 are 0.3.
    return Number(numbers.reduce((sum, number) => sum + number, 0).toPrecision(15));
  },
};

function wait(clock: Clock): Tool {
  return {
    name: 'wait',
    description: 'Waits for some seconds.',
    input_schema: {
      type: 'object',
      properties: { seconds: { type: 'number', minimum: 0, maximum: WAIT_SECONDS_MAX } },
      required: ['seconds'],
      additionalProperties: false,
    },
    effect: 'read',
    run: async (input, { signal }) => {
      const seconds = parseSeconds(input);
      await pause(clock, seconds * 1000, signal);
      return `waited ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
    },
  };
}

/** Resolves after `ms`; rejects as soon as `signal` aborts, and leaves no timer behind. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopped = new Error('the wait was stopped before its time was over');
    if (signal.aborted) {
      reject(stopped);
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(stopped);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

function parseNumbers(input: JsonValue): readonly number[] {
  const numbers = fieldOf(input, 'numbers');
  if (!isListOfNumbers(numbers)) throw new Error('numbers must be a list of numbers');
  return numbers;
}

function isListOfNumbers(value: JsonValue | undefined): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number');
}

function parseSeconds(input: JsonValue): number {
  const seconds = fieldOf(input, 'seconds');
  if (typeof seconds !== 'number' || seconds < 0 || seconds > WAIT_SECONDS_MAX) {
    throw new Error(`seconds must be a number from 0 to ${WAIT_SECONDS_MAX}`);
  }
  return seconds;
}

function fieldOf(input: JsonValue, name: string): JsonValue | undefined {
  return isObject(input) ? input[name] : undefined;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

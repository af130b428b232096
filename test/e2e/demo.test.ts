/** The demonstration, as somebody runs it. */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const DEMO_COMMAND = path.resolve(import.meta.dirname, '../../dist/cli/demo.js');

describe('the demonstration', () => {
  it('shows a turn, a kill in the next, what became of it, and how the conversation goes on, in under a minute', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [DEMO_COMMAND], { timeout: 60_000 });

    expect(stderr).toBe('');
    expect(typesIn(stdout)).toEqual([
      ...['session_created', 'session_ready'],
      ...['message_queued', 'turn_started', 'activation_started', 'model_call_started', 'model_call_ended'],
      ...['tool_call_started', 'tool_call_ended', 'model_call_started', 'model_call_ended', 'activation_ended', 'turn_ended'],
      ...['message_queued', 'turn_started', 'activation_started', 'model_call_started', 'model_call_ended', 'tool_call_started'],
      ...['tool_call_ended', 'activation_failed', 'turn_failed'],
      ...['message_queued', 'turn_started', 'activation_started', 'model_call_started', 'model_call_ended'],
      ...['activation_ended', 'turn_ended'],
    ]);
    expect(stdout).toMatch(/tool_call_ended +ok: 42/);
    expect(stdout).toMatch(/tool_call_ended +unknown: /);
    expect(stdout).toMatch(/turn_failed +interrupted_by_restart: /);
    expect(stdout).toContain('Are you still there?');
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('brain-demo-'))).toEqual([]);
  });
});

function typesIn(output: string): readonly string[] {
  return [...output.matchAll(/^ *\d+ {2}([a-z_]+)/gm)].map(([, type]) => type ?? '');
}

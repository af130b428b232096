import { readFile, readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Block, Message } from '../../../machines/messages.ts';
import { Intake } from '../../../services/intake.ts';
import { Secrets } from '../../../services/secrets.ts';

const KEY = 'sk-canary-0123456789';
const REMOVED = '[secret removed]';

const intake = new Intake(new Secrets([KEY]).of('local'));

function assistant(...content: readonly Block[]): Message {
  return { role: 'assistant', content };
}

describe('what comes from outside', () => {
  it('loses its secrets anywhere in a value, in names too', () => {
    expect(intake.data({ a: [`<${KEY}>`, 1, null, { [KEY]: true }], b: new Date(0) })).toEqual({
      ok: true,
      value: { a: [`<${REMOVED}>`, 1, null, { [REMOVED]: true }], b: '1970-01-01T00:00:00.000Z' },
    });
  });

  it('is refused where it is no plain data, as ever', () => {
    expect(intake.data({ a: 1n })).toMatchObject({ ok: false });
  });

  it('is searched after it is cleaned: what is left out hides nothing', () => {
    expect(intake.text('sk-canary\u0000-0123456789')).toBe(REMOVED);
    expect(intake.data(['sk-canary\u0000-0123456789'])).toEqual({ ok: true, value: [REMOVED] });
  });

  it('is cut after it was searched, between characters', () => {
    expect(intake.text(`ab${KEY}`, 12)).toBe('ab[secret re');
    expect(intake.text('🦀🦀', 3)).toBe('🦀\uFFFD');
  });
});

describe('the message of a model', () => {
  function clean(message: Message): Message {
    const taken = intake.message(message);
    if (!taken.ok) throw new Error(taken.reason);
    return taken.message;
  }

  it('loses a secret in any block', () => {
    const message = assistant(
      { type: 'text', text: `text ${KEY}`, provider: { raw: KEY } },
      { type: 'reasoning', text: `reasoning ${KEY}` },
      { type: 'tool_use', id: KEY, name: KEY, input_text: `{"k":"${KEY}"}`, input: { k: KEY } },
      { type: 'image', url: `https://x.example/?k=${KEY}`, media_type: 'image/png' },
    );

    expect(JSON.stringify(clean(message))).not.toContain('canary');
    expect(clean(message).content[2]).toEqual({ type: 'tool_use', id: REMOVED, name: REMOVED, input_text: `{"k":"${REMOVED}"}`, input: { k: REMOVED } });
  });

  it('loses a secret that its text blocks only spell together', () => {
    const message = assistant(
      { type: 'text', text: 'see sk-can' },
      { type: 'reasoning', text: 'thinking sk-canary-01' },
      { type: 'text', text: 'ary-0123456789.' },
      { type: 'reasoning', text: '23456789' },
    );

    expect(clean(message)).toEqual(
      assistant(
        { type: 'text', text: `see ${REMOVED}` },
        { type: 'reasoning', text: `thinking ${REMOVED}` },
        { type: 'text', text: '.' },
        { type: 'reasoning', text: '' },
      ),
    );
  });

  it('loses a secret that the arguments of a call spell in escapes', () => {
    const input_text = '{"k": "sk-canary\\u002d0123456789", "n": 1}';
    const message = assistant({ type: 'tool_use', id: '1', name: 'look', input_text, input: { k: KEY, n: 1 } });

    expect(clean(message).content).toEqual([
      { type: 'tool_use', id: '1', name: 'look', input_text: `{"k":"${REMOVED}","n":1}`, input: { k: REMOVED, n: 1 } },
    ]);
  });

  it('is byte for byte what it was where there is no secret in it', () => {
    const message = assistant(
      { type: 'reasoning', text: '', provider: { signature: 'abc' } },
      { type: 'text', text: 'sk-canary-' },
      { type: 'tool_use', id: '1', name: 'look', input_text: '{ "a" : 1.0 }', input: { a: 1 } },
    );

    expect(clean(message)).toEqual(message);
  });
});

describe('the services', () => {
  it('take nothing in past the intake: no other file makes plain data of what comes from outside', async () => {
    const folder = new URL('../../../services/', import.meta.url);
    const files = (await readdir(folder)).filter((name) => name.endsWith('.ts'));
    const importing: string[] = [];
    for (const file of files) {
      if (/import \{[^}]*\bplain(Data|Text)\b[^}]*\} from '\.\.\/machines\/plain-data\.ts'/.test(await readFile(new URL(file, folder), 'utf8'))) importing.push(file);
    }

    // A client's own messages are plain data without being searched: they are what the client says.
    expect(importing.toSorted()).toEqual(['intake.ts', 'plain-messages.ts']);
  });
});

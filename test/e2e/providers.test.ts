/** The operator's own providers, each over its protocol: a turn with a tool, and what the provider gets back of it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readAnthropicRequest } from '../support/anthropic-request.ts';
import {
  ANTHROPIC,
  OPENAI_RESPONSES,
  anthropicBlock,
  anthropicEnd,
  anthropicStart,
  responsesCall,
  responsesEnd,
  responsesItem,
  responsesStart,
  typedStream,
  type Protocol,
} from '../support/provider-protocols.ts';
import { readResponsesRequest } from '../support/responses-request.ts';
import { ServerProcess } from '../support/server-process.ts';
import { StreamServer } from '../support/stream-server.ts';

const KEY = 'sk-of-the-operator-0123456789';
const INPUT = '{ "numbers" : [1.0, 2] }';

const thinking = { type: 'thinking', thinking: 'A sum.', signature: 'c2ln/+==' };
// In the order in which the stream sends it: its id first.
const reasoning = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'A sum.' }], encrypted_content: 'ZW5j/+==' };

interface Spoken {
  readonly protocol: Protocol;
  /** An answer that thinks and asks for the sum. */
  readonly asks: string;
  readonly read: (body: string) => object;
  /** What of the answer is in the body of the next request, to the letter. */
  readonly given: readonly string[];
}

const spoken: readonly Spoken[] = [
  {
    protocol: ANTHROPIC,
    asks: typedStream([
      anthropicStart(),
      ...anthropicBlock(0, { type: 'thinking', thinking: '' }, [
        { type: 'thinking_delta', thinking: thinking.thinking },
        { type: 'signature_delta', signature: thinking.signature },
      ]),
      ...anthropicBlock(1, { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} }, [{ type: 'input_json_delta', partial_json: INPUT }]),
      ...anthropicEnd('tool_use'),
    ]),
    read: readAnthropicRequest,
    given: [JSON.stringify(thinking), `"input":${INPUT}`],
  },
  {
    protocol: OPENAI_RESPONSES,
    asks: typedStream([responsesStart(), ...responsesItem(0, reasoning, []), ...responsesCall(1, INPUT), responsesEnd()]),
    read: readResponsesRequest,
    given: [JSON.stringify(reasoning), `"arguments":${JSON.stringify(INPUT)}`],
  },
];

let folder = '';
let server: ServerProcess | null = null;
let provider: StreamServer | null = null;
afterEach(async () => {
  await server?.dispose();
  await provider?.close();
  if (folder !== '') await rm(folder, { recursive: true, force: true });
  [server, provider, folder] = [null, null, ''];
});

async function fileOf(text: string): Promise<string> {
  folder = await mkdtemp(path.join(tmpdir(), 'brain-providers-'));
  const file = path.join(folder, 'providers.json');
  await writeFile(file, text);
  return file;
}

describe('a provider of the file', () => {
  it.each(spoken)('gets back over $protocol.name what it said, byte for byte, and its key stays with the calls', async ({ protocol, asks, read, given }) => {
    provider = await StreamServer.start((index) => ({ steps: [{ send: index === 0 ? asks : protocol.answer('Three.') }] }));
    const base_url = `${provider.url}/v1`;
    const file = await fileOf(
      JSON.stringify({ providers: [{ name: 'own', protocol: protocol.name, base_url, api_key_env: 'OWN_KEY', models: ['thinker'] }] }),
    );
    server = await ServerProcess.start({ environment: { BRAIN_PROVIDERS_FILE: file, OWN_KEY: KEY } });
    const model = { provider: 'own', name: 'thinker' };
    const { session_id: id } = await server.api.create({ model, tools: ['add'] });

    expect(await server.api.send(id, 'What is 1 + 2?')).toMatchObject({ outcome: 'ended', result: { text: 'Three.' } });
    expect(await server.api.send(id, 'Sure?')).toMatchObject({ outcome: 'ended' });

    const bodies = provider.requests.map(({ body }) => body);
    expect(bodies).toHaveLength(3);
    for (const body of bodies) expect(read(body)).toHaveProperty('request');
    for (const text of given) for (const body of bodies.slice(1)) expect(body).toContain(text);
    expect(provider.requests.map(({ headers }) => headers[protocol.authorization.header])).toEqual(bodies.map(() => protocol.authorization.withKey(KEY)));
    expect(JSON.stringify(await server.api.journal(id))).not.toContain(KEY);
    expect(await server.api.request('POST', '/v1/sessions', { model: { provider: 'own', name: 'other' } })).toMatchObject({ status: 422 });
  });

  it('keeps the server from starting where it is not usable, with a line for each fault', async () => {
    const file = await fileOf('{"providers":[{"name":"own","protocol":"smtp","base_url":"here"}]}');

    await expect(ServerProcess.start({ environment: { BRAIN_PROVIDERS_FILE: file } })).rejects.toThrow(
      /ended with 1 before it listened\nbrain cannot start: the providers file \S+: provider own, field protocol: [^\n]+\nthe providers file \S+: provider own, field base_url: [^\n]+\n$/,
    );
    await expect(ServerProcess.start({ environment: { BRAIN_PROVIDERS_FILE: `${file}.gone` } })).rejects.toThrow(/cannot be read: ENOENT/);
  });
});

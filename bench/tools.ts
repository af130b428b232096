/** The tools file of the server under test: one that answers at once, and those that a recorded conversation calls. */
import type { JsonObject } from '../machines/messages.ts';

const MODEL_URL = process.env['BENCH_MODEL_URL'] ?? '';
const RECORDED_TOOLS = JSON.parse(process.env['BENCH_TOOLS'] ?? '[]') as readonly string[];

const look = {
  name: 'look',
  description: 'Looks at a place.',
  input_schema: { type: 'object', properties: { place: { type: 'integer' } } },
  effect: 'read',
  run: (input: JsonObject): Promise<string> => Promise.resolve(`nothing to be seen at ${JSON.stringify(input['place'])}`),
};

function recorded(name: string): object {
  return {
    name,
    description: 'A tool of a recorded conversation.',
    input_schema: { type: 'object' },
    run: async (): Promise<string> => (await fetch(`${MODEL_URL}/tool-output`, { method: 'POST', body: JSON.stringify(name) })).text(),
  };
}

// The form of a tools file.
// eslint-disable-next-line no-restricted-syntax
export default [look, ...RECORDED_TOOLS.map(recorded)];

/**
 * A tools file for tests: each of its tools asks the test what it should answer. One of its own, `emit_many`, fills a
 * journal quickly.
 */
const url = process.env.REMOTE_TOOLS_URL;
const remoteTools = JSON.parse(process.env.REMOTE_TOOLS ?? '[]');

const emitMany = {
  name: 'emit_many',
  description: 'Records many events.',
  input_schema: { type: 'object', properties: { count: { type: 'integer' }, characters: { type: 'integer' } } },
  async run({ count, characters }, { emit }) {
    for (let first = 0; first < count; first += 1000) {
      const indexes = Array.from({ length: Math.min(1000, count - first) }, (_, offset) => first + offset);
      await Promise.all(indexes.map((index) => emit('test.filler', { index, text: 'x'.repeat(characters) })));
    }
    return `${count} events`;
  },
};

export default [
  emitMany,
  ...remoteTools.map(({ name, ignoresCancellation }) => ({
    name,
    description: `The test's tool ${name}.`,
    input_schema: { type: 'object' },
    async run(input, { signal, session_id, sequence }) {
      const response = await fetch(url, {
        method: 'POST',
        body: JSON.stringify({ tool: name, session_id, sequence, input }),
        signal: ignoresCancellation === true ? null : signal,
      });
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()).output;
    },
  })),
];

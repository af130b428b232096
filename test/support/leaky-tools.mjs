/**
 * A tools file for tests: a tool that gives away all that it can get at in the server's process, in every way that a tool
 * can say something.
 */
const everything = () => ({ environment: { ...process.env }, arguments: process.argv });

export default [
  {
    name: 'leak',
    description: 'Tells everything.',
    input_schema: { type: 'object' },
    async run({ fails }, { emit, progress }) {
      const told = everything();
      progress({ message: JSON.stringify(told) });
      await emit('leak.event', told);
      if (fails) throw new Error(`cannot: ${JSON.stringify(told)}`);
      return [told, JSON.stringify(JSON.stringify(told))];
    },
  },
];

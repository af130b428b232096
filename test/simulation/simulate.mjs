/** The command behind `npm run simulate -- --seed N --runs N --minutes N`. Without a seed it takes one from the clock. */
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';

const { values } = parseArgs({ options: { seed: { type: 'string' }, runs: { type: 'string' }, minutes: { type: 'string' } } });
const isWhole = (text) => text === undefined || /^\d+$/.test(text);
if (!isWhole(values.seed) || !isWhole(values.runs) || !/^\d+(\.\d+)?$/.test(values.minutes ?? '0')) {
  console.error('usage: npm run simulate -- [--seed N] [--runs N] [--minutes N]');
  process.exit(2);
}
process.env.BRAIN_SIMULATE_SEED = values.seed ?? String(Date.now() % 1_000_000_000);
process.env.BRAIN_SIMULATE_RUNS = values.runs ?? (values.minutes === undefined ? '2000' : 'Infinity');
process.env.BRAIN_SIMULATE_MINUTES = values.minutes ?? 'Infinity';
const vitest = await startVitest('test', [], { watch: false, project: ['simulate'], reporters: ['default'], disableConsoleIntercept: true });
await vitest.close();

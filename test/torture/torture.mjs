/** The command behind `npm run torture -- --kills N --seed N --minutes N`. Without a seed it takes one from the clock. */
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';

const { values } = parseArgs({ options: { seed: { type: 'string' }, kills: { type: 'string' }, minutes: { type: 'string' } } });
const isWhole = (text) => text === undefined || /^\d+$/.test(text);
if (!isWhole(values.seed) || !isWhole(values.kills) || !/^\d+(\.\d+)?$/.test(values.minutes ?? '0')) {
  console.error('usage: npm run torture -- [--kills N] [--seed N] [--minutes N]');
  process.exit(2);
}
process.env.BRAIN_TORTURE_SEED = values.seed ?? String(Date.now() % 1_000_000_000);
process.env.BRAIN_TORTURE_KILLS = values.kills ?? (values.minutes === undefined ? '200' : 'Infinity');
process.env.BRAIN_TORTURE_MINUTES = values.minutes ?? '30';
console.log(`seed ${process.env.BRAIN_TORTURE_SEED}`);
const vitest = await startVitest('test', [], { watch: false, project: ['torture'], reporters: ['default'], disableConsoleIntercept: true });
await vitest.close();

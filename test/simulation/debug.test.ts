import { it } from 'vitest';
import { Coverage } from './coverage.ts';
import { run } from './run.ts';
it('debug', async () => {
  const choices = JSON.parse(process.env['CHOICES'] ?? '[]') as [number, number][];
  const start = Date.now();
  const { violation, script, log } = await run(choices, new Coverage());
  console.log(Date.now() - start, 'ms', script.join('\n'), '\n', log.join('\n'), violation?.message);
}, 600000);

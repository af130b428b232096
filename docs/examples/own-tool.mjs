// A tool that runs in this process, with a type of zod, an event of its own, and what it has to say while it runs.
import { Brain, hostEnv, tool, ToolError } from '@aexhq/brain';
import { z } from 'zod';

const brain = new Brain(process.env.BRAIN_URL ?? 'http://127.0.0.1:8080', process.env.BRAIN_API_KEY);
const stock = new Map([['lamp', 3], ['chair', 0]]);

const order = tool({
  name: 'order',
  description: 'Orders things from the warehouse.',
  input: z.object({ item: z.string(), count: z.int().min(1).default(1) }),
  effect: 'once',
  async run({ item, count }, { signal, emit, progress, sessionId, sequence }) {
    progress({ message: 'looking at the shelf', fraction: 0.5 });
    const left = stock.get(item) ?? 0;
    if (left < count) throw new ToolError(`${left} of ${item} are left`, { code: 'sold_out' });
    signal.throwIfAborted();
    stock.set(item, left - count);
    await emit('warehouse.ordered', { item, count });
    // Session and sequence name the call for good: a key for whatever is done outside.
    return { order: `${sessionId}/${sequence}`, left: left - count };
  },
});

try {
  const session = await brain.sessions.create({ environments: [hostEnv({ name: 'warehouse', tools: [order] })] });
  for (const message of ['call order {"item": "lamp", "count": 2}', 'call order {"item": "chair"}']) {
    console.log((await session.send(message)).result?.text);
  }
  for await (const event of session.events()) if (event.type === 'warehouse.ordered') console.log(event.type, event.data, event.origin);
} finally {
  await brain.close();
}

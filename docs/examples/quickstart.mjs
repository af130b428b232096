// A session with a tool of your own. `npm start` in the clone runs a server; then: node docs/examples/quickstart.mjs
import { Brain, tool } from '@aexhq/brain';

const brain = new Brain(process.env.BRAIN_URL ?? 'http://127.0.0.1:8080', process.env.BRAIN_API_KEY);

const dice = tool({
  name: 'roll_dice',
  description: 'Rolls a die with so many sides.',
  input: { type: 'object', properties: { sides: { type: 'integer', minimum: 2 } }, required: ['sides'] },
  run: ({ sides }) => 1 + Math.floor(Math.random() * sides),
});

try {
  const session = await brain.sessions.create({ tools: [dice] });
  // The model demo/echo calls the tool that the message names. One that thinks is asked in words.
  const turn = await session.send('call roll_dice {"sides": 6}');
  console.log(turn.result?.text);
} finally {
  await brain.close();
}

// An answer of a type. What does not fit is sent back to the model for correction.
import { Brain } from '@aexhq/brain';
import { z } from 'zod';

const brain = new Brain(process.env.BRAIN_URL ?? 'http://127.0.0.1:8080', process.env.BRAIN_API_KEY);
const Person = z.object({ name: z.string(), born: z.int() });

try {
  const session = await brain.sessions.create();
  // The model demo/echo repeats what it is told, so that the answer is in the question.
  const question = 'Who wrote the first program?\n```json\n{ "name": "Ada Lovelace", "born": 1815 }\n```';
  const { output } = await session.send(question, { output: { type: Person } });
  console.log(`${output.name}, born in ${output.born}`);
} finally {
  await brain.close();
}

/** The bodies of `/sessions`. Fields that are not named here are refused by name. */
import { z } from 'zod';
import { REASONING_EFFORTS, TEMPERATURE_MAX } from '../../services/loops/model-settings.ts';
import { modelReferenceSchema, nameSchema } from './names.ts';
import { afterStopSchema, afterStopWords, metadataSchema, toolNamesSchema } from './requests.ts';

const MESSAGE_KEY_BYTES_MAX = 256;

export const createLifecycleSessionBody = z
  .strictObject({
    harness: nameSchema.meta({ description: 'What answers messages.', examples: ['pi'] }),
    config: z
      .strictObject({
        model: modelReferenceSchema.meta({
          description: 'The model that the harness calls, after its provider: the first slash divides them.',
          examples: ['openai/gpt-4.1-mini'],
        }),
        instructions: z.string().meta({ description: 'The system prompt. The empty text is none.' }).exactOptional(),
        tools: toolNamesSchema
          .meta({ description: 'The tools that the model is offered. Left out: none, and for a model of `demo` its own three.' })
          .exactOptional(),
        reasoning_effort: z
          .enum(REASONING_EFFORTS)
          .meta({ description: "How long the model is to think. Default: the provider's." })
          .exactOptional(),
        max_output_tokens: z.int().min(1).meta({ description: "The bound on one answer. Default: the provider's." }).exactOptional(),
        temperature: z.number().min(0).max(TEMPERATURE_MAX).meta({ description: "Default: the provider's." }).exactOptional(),
      })
      .meta({ description: 'Shown again as it was sent.' }),
    after_stop: afterStopSchema.meta({ description: afterStopWords('hold') }).exactOptional(),
    metadata: metadataSchema
      .meta({ description: 'Names and values of your own, to find the session again. Default: none.' })
      .exactOptional(),
  })
  .meta({ id: 'CreateLifecycleSession', description: 'Names only: no secret, no address, no id.' });
export type CreateLifecycleSessionBody = z.infer<typeof createLifecycleSessionBody>;

const messageKeySchema = z
  .string()
  .refine(
    (key) => {
      const bytes = Buffer.byteLength(key);
      return bytes >= 1 && bytes <= MESSAGE_KEY_BYTES_MAX;
    },
    { error: `must be 1 to ${MESSAGE_KEY_BYTES_MAX} bytes of text` },
  )
  .meta({
    minLength: 1,
    maxLength: MESSAGE_KEY_BYTES_MAX,
    description: `1 to ${MESSAGE_KEY_BYTES_MAX} bytes in UTF-8. The same message under the same key is accepted once, for as long as the session is there: sent again, it is answered with the first event.`,
    examples: ['msg-0001'],
  });

export const sentEventBody = z
  .discriminatedUnion('type', [
    z
      .strictObject({
        type: z.literal('user.message'),
        text: z.string().min(1).meta({ description: 'What is said to the agent. Not empty: providers refuse that.' }),
        key: messageKeySchema.exactOptional(),
      })
      .meta({ description: 'A message. It waits its turn where a turn is running.' }),
    z.strictObject({ type: z.literal('user.interrupt') }).meta({ description: 'Stop the running turn.' }),
  ])
  .meta({ id: 'SentEvent' });

/** What a tenant's file of environments says. What it does not say as this version writes it is refused, not guessed. */
import { z } from 'zod';
import type { JsonObject } from '../../machines/messages.ts';
import { SIDE_EFFECTS } from '../../machines/records.ts';
import type { StoredDeclaration } from './declaration.ts';

export interface Stored {
  readonly name: string;
  readonly declaration: StoredDeclaration;
  /** Epoch milliseconds. */
  readonly created_at: number;
  readonly updated_at: number;
}

const objectSchema = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value));

const shared = {
  configuration: objectSchema,
  tools: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      input_schema: objectSchema,
      effect: z.enum(SIDE_EFFECTS),
      configuration: objectSchema.exactOptional(),
    }),
  ),
};

const fileSchema = z.strictObject({
  version: z.literal(1),
  environments: z.array(
    z.strictObject({
      name: z.string(),
      declaration: z.discriminatedUnion('driver', [
        z.strictObject({ driver: z.literal('http'), url: z.string(), credential: z.string().exactOptional(), ...shared }),
        z.strictObject({ driver: z.literal('host'), host: z.string(), ...shared }),
      ]),
      created_at: z.int(),
      updated_at: z.int(),
    }),
  ),
});

export function storedBytes(environments: readonly Stored[]): Uint8Array {
  return Buffer.from(JSON.stringify({ version: 1, environments }));
}

export function parseStored(bytes: Uint8Array): readonly Stored[] {
  try {
    return fileSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).environments;
  } catch {
    throw new Error('the environments of a tenant do not read back as they were written; their file is in the directory environments');
  }
}

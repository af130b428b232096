/** The alphabets and lengths of everything that a client may name, each as a schema. */
import { z } from 'zod';
import { NAME, NAME_IN_WORDS } from '../../services/names.ts';

// Controls, unassigned code points and line breaks are what is not printable.
const MODEL_NAME = '[^\\p{C}\\p{Zl}\\p{Zp}]{1,256}';

/** Environments, credentials, agent loops, providers. */
export const nameSchema = z
  .string()
  .regex(new RegExp(`^${NAME}$`), { error: `must be ${NAME_IN_WORDS}` });

export const toolNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'must be 1 to 64 of A-Z a-z 0-9 _ -' });

export const modelNameSchema = z
  .string()
  .regex(new RegExp(`^${MODEL_NAME}$`, 'u'), { error: 'must be 1 to 256 printable characters' });

/** A model with its provider, in one text. A provider's name has no slash: it ends at the first one. */
export const modelReferenceSchema = z
  .string()
  .regex(new RegExp(`^${NAME}/${MODEL_NAME}$`, 'u'), { error: 'must be PROVIDER/NAME, such as openai/gpt-4.1-mini' });

/** Text of so many characters, as a person counts them: a pair of surrogates is one. */
export function charactersSchema({ min, max }: { readonly min: number; readonly max: number }): z.ZodString {
  return z
    .string()
    .refine(
      (text) => {
        const count = Array.from(text).length;
        return count >= min && count <= max;
      },
      { error: `must have ${min} to ${max} characters` },
    )
    .meta({ ...(min === 0 ? {} : { minLength: min }), maxLength: max });
}

const SESSION_ID = /^[0-9a-f]{32}$/;

/** Session ids sort by creation. Any other text is the id of no session, and never part of a path. */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

export const sessionIdSchema = z
  .string()
  .regex(SESSION_ID, { error: 'must be the id of a session, the last one of the page before' })
  .meta({ examples: ['019b7a5e6c00700080a1b2c3d4e5f607'] });

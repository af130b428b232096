/** What the requests of all protocols have in common: the names of tools, and images and files by their URLs. */
import type { Block, FileBlock, ImageBlock, Message } from '../../machines/messages.ts';
import type { ResolvedModel } from '../../machines/records.ts';
import type { OfferedTool } from './model-provider.ts';

/** What a protocol cannot say. Nothing has been sent. */
export class UnsupportedContent extends Error {
  override readonly name = 'UnsupportedContent';
}

export function addressOf({ base_url }: ResolvedModel): string {
  if (base_url === undefined) throw new UnsupportedContent('anything: it has no address');
  return base_url;
}

// The least of the protocols' own bounds.
const TOOL_NAME_CHARACTERS_MAX = 64;

/** Stands where a protocol wants words and there are none: an empty message of a user's is one all the same. */
export const NO_WORDS = '(empty message)';

/** A model can ask for a tool by a name that no tool can have, and would not take its own message back with it. */
export function acceptedToolName(name: string): string {
  const accepted = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, TOOL_NAME_CHARACTERS_MAX);
  return accepted === '' ? '_' : accepted;
}

/** The schema of a tool's input. Providers want it to say that it is an object's, which every tool's is. */
export function schemaOf({ input_schema }: OfferedTool): object {
  return 'type' in input_schema ? input_schema : { type: 'object', properties: {}, ...input_schema };
}

/** An image or a file: by its address, or by its own bytes. */
export type Media =
  | { readonly kind: 'url'; readonly mediaType: string; readonly url: string }
  | { readonly kind: 'data'; readonly mediaType: string; readonly base64: string };

export function mediaOf({ type, url, media_type: mediaType }: ImageBlock | FileBlock): Media {
  if (type === 'image' && !mediaType.startsWith('image/')) throw new UnsupportedContent(`an image of type ${mediaType}`);
  if (/^data:/i.test(url)) return { kind: 'data', mediaType, base64: base64Of(url) };
  if (!URL.canParse(url)) throw new UnsupportedContent(`an ${type === 'image' ? 'image' : 'attached file'} whose URL is none`);
  return { kind: 'url', mediaType, url: new URL(url).href };
}

function base64Of(dataUrl: string): string {
  const comma = dataUrl.indexOf(',');
  const data = dataUrl.slice(comma + 1);
  if (/;base64$/i.test(dataUrl.slice(0, comma))) return data;
  try {
    return Buffer.from(decodeURIComponent(data), 'utf8').toString('base64');
  } catch (error) {
    throw new UnsupportedContent('a data URL that does not decode', { cause: error });
  }
}

/** The block of one role in a message of the other. */
export function misplaced({ role }: Message, { type }: Block): UnsupportedContent {
  return new UnsupportedContent(`${role === 'user' ? 'a user message' : 'a message of the assistant'} with a block of type ${type}`);
}

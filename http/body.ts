/**
 * Reads a request's JSON body. The bytes come through koa-body as Latin-1, one character for each byte, since its own
 * decoder puts U+FFFD in place of broken UTF-8 and lets it pass.
 *
 *   B1. What is answered here is the client's doing, and a 4xx: too large, not JSON, not UTF-8, not what it is said to
 *       be compressed with.
 *   B2. Not a byte is taken in beyond the bound, before or after decompression.
 *   B3. A report of an environment or a host is text from a tool: broken text in it is mended, U+FFFD in its place.
 */
import { koaBody } from 'koa-body';
import type { Context } from 'koa';
import type { JsonValue } from '../machines/messages.ts';
import { HttpError } from './errors.ts';
import { parseJsonText } from './wire/json-text.ts';

/** A body as a value; undefined where the request has none. */
export type BodyReader = (context: Context) => Promise<JsonValue | undefined>;

/** `mends`: for reports (B3). */
export function createBodyReader(options: { readonly bodyBytesMax: number }, { mends }: { readonly mends: boolean } = { mends: false }): BodyReader {
  const readText = koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    text: true,
    textTypes: ['application/json'],
    textLimit: options.bodyBytesMax,
    encoding: 'latin1',
  });

  return async (context) => {
    if (!hasBody(context)) return undefined;
    refuseOtherTypes(context);
    try {
      await readText(context, () => Promise.resolve());
    } catch (error) {
      throw refusalOf(error, options.bodyBytesMax);
    }
    const parsed = parseJsonText(decodeUtf8(context.request.body, mends), { mends });
    if (parsed.kind === 'value') return parsed.value;
    const { problem, field = '' } = parsed;
    throw new HttpError('invalid_request', `${field === '' ? 'the body' : field} ${problem}`, { field });
  };
}

function hasBody(context: Context): boolean {
  const { headers } = context.req;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function refuseOtherTypes(context: Context): void {
  const { charset } = context.request;
  if (context.is('application/json') && ['', 'utf-8', 'utf8'].includes(charset.toLowerCase())) return;
  throw new HttpError('unsupported_media_type', 'the body must be sent as Content-Type: application/json, in UTF-8');
}

function refusalOf(error: unknown, bodyBytesMax: number): HttpError {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  if (status === 413) return new HttpError('too_large', `the body must be at most ${bodyBytesMax} bytes`, { cause: error });
  if (status === 415) {
    return new HttpError('unsupported_media_type', 'the Content-Encoding must be gzip, deflate, br or none', { cause: error });
  }
  return new HttpError('invalid_request', 'the body does not match its Content-Length or Content-Encoding', { cause: error });
}

function decodeUtf8(latin1: unknown, mends: boolean): string {
  if (typeof latin1 !== 'string') throw new TypeError('koa-body was to hand over the body as text');
  try {
    return new TextDecoder('utf-8', { fatal: !mends }).decode(Buffer.from(latin1, 'latin1'));
  } catch (error) {
    throw new HttpError('invalid_request', 'the body is not well-formed UTF-8', { field: '', cause: error });
  }
}

/** The recorded conversations of an airline's agent, from the folder that `BRAIN_TEST_DATA` names, and their transcripts. */
import path from 'node:path';
import { readRecordings, type Recordings, type Step, type Turn } from '../../bench/recordings.ts';
import type { TranscriptMessage } from './brain-api.ts';

const DATA_FOLDER = path.resolve(process.env['BRAIN_TEST_DATA'] ?? '../shared/data');

/** Null where the recordings are not there, which is then said. */
export function readAirline(): Recordings | null {
  const recordings = readRecordings(DATA_FOLDER);
  if (recordings === null) console.warn(`skipped: no recorded conversations in ${DATA_FOLDER} (BRAIN_TEST_DATA)`);
  return recordings;
}

/** A turn as the transcript has it. */
export function transcriptOf(turn: Turn): readonly TranscriptMessage[] {
  return [{ role: 'user', content: textBlocks(turn.input) }, ...turn.steps.flatMap((step) => messagesOf(step))];
}

function messagesOf({ text, toolCalls }: Step): readonly TranscriptMessage[] {
  const uses = toolCalls.map(({ id, name, arguments: input_text }) => ({
    type: 'tool_use',
    id,
    name,
    input: JSON.parse(input_text) as unknown,
    input_text,
  }));
  const said: TranscriptMessage = { role: 'assistant', content: [...textBlocks(text), ...uses] };
  if (toolCalls.length === 0) return [said];
  const results = toolCalls.map(({ id, output }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: textBlocks(output),
    is_error: false,
    outcome: 'ok',
  }));
  return [said, { role: 'user', content: results }];
}

function textBlocks(text: string): readonly { readonly type: 'text'; readonly text: string }[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

/** A hundred readers that stop reading: the server does not hold for them what they do not take, and they lose nothing. */
import { afterEach, describe, expect, it } from 'vitest';
import { inParallel } from '../../bench/in-parallel.ts';
import { megabytes } from '../support/journal-size.ts';
import { calls, says } from '../support/openai-server.ts';
import { runsLongForms } from '../support/slow-tests.ts';
import { SseReader } from '../support/sse-reader.ts';
import { Stage } from '../support/stage.ts';

const READERS = 100;
// Of a thousand characters each: several times what the system's own buffers take of a stream.
const EVENTS = { count: runsLongForms ? 200_000 : 20_000, characters: 1000 };
const WAIT_MS = runsLongForms ? 600_000 : 120_000;

let stage: Stage;
afterEach(async () => stage.strike());

describe('a hundred stalled readers', () => {
  it(
    'S-186, S-187: cost the server no memory and the others nothing, get everything in the end, and do not hold up its stop',
    { timeout: WAIT_MS * 2 },
    async () => {
      stage = await Stage.set({
        model: (call) =>
          call.index % 2 === 0 ? calls({ id: 'call_1', name: 'emit_many', arguments: JSON.stringify(EVENTS) }) : says('Emitted.'),
        environment: { BRAIN_MAX_EMITTED_BYTES: '1000000000', BRAIN_MAX_TOOL_SECS: '0' },
      });
      const { session_id: id } = await stage.create({ tools: ['emit_many'] });
      const streamOf = (after: number | string): string => `${stage.server.url}/v1/sessions/${id}/events?after=${after}`;
      // As much once without them, for what the turn itself takes.
      await stage.api.send(id, 'warm up');
      const { last_sequence } = await stage.api.session(id);
      const stalled = await inParallel(Array.from({ length: READERS }), 10, async () => SseReader.open(streamOf(last_sequence), { stalled: true }));
      const healthy = await inParallel(Array.from({ length: 3 }), 3, async () => SseReader.open(streamOf(last_sequence)));
      const before = await stage.server.residentBytes();

      const startedAt = performance.now();
      const sent = stage.api.send(id, 'go');
      await Promise.all(healthy.map(async (reader) => reader.nextOf('turn_ended', WAIT_MS)));
      const tookMs = performance.now() - startedAt;
      await sent;
      const grown = (await stage.server.residentBytes()) - before;
      const ids = idsIn(healthy[0]);
      console.log(`${READERS} stalled readers of ${EVENTS.count} events in ${Math.round(tookMs)} ms: the server grew by ${megabytes(grown)}`);

      expect(ids.length).toBeGreaterThan(EVENTS.count);
      for (const reader of healthy) expect(idsIn(reader)).toEqual(ids);
      // What is held for each of them would be a hundred times the 20 MB of these events, or a page of them each.
      expect(grown).toBeLessThan(200e6);
      const [reading, leaving] = [stalled.slice(0, 3), stalled.slice(3, 6)];
      for (const reader of reading) {
        reader.resume();
        await reader.nextOf('turn_ended', WAIT_MS);
        expect(idsIn(reader)).toEqual(ids);
      }
      for (const reader of leaving) {
        reader.close();
        const again = await SseReader.open(streamOf(0), { lastEventId: idsIn(reader).at(-1) ?? String(last_sequence) });
        await again.nextOf('turn_ended', WAIT_MS);
        expect([...idsIn(reader), ...idsIn(again)]).toEqual(ids);
      }
      const stoppedAt = performance.now();
      expect(await stage.server.stop()).toBe(0);
      expect(performance.now() - stoppedAt).toBeLessThan(20_000);
    },
  );
});

function idsIn(reader: SseReader | undefined): readonly string[] {
  return reader?.frames.flatMap(({ id }) => (id === undefined ? [] : [id])) ?? [];
}

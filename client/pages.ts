/** What is recorded, page by page, until the end of it. A page may hold nothing and yet not be the last. */

export interface EventPage<E, C> {
  readonly events: readonly E[];
  readonly next_cursor: C;
}

// As many as one answer may hold.
export const PAGE_EVENTS = 1000;

export async function* readPages<E, C>(after: C, read: (after: C) => Promise<EventPage<E, C>>): AsyncGenerator<E, void, void> {
  let cursor = after;
  for (;;) {
    const page = await read(cursor);
    yield* page.events;
    if (page.events.length === 0 && page.next_cursor === cursor) return;
    cursor = page.next_cursor;
  }
}

/**
 * The ids of tool calls, as a provider takes them that refuses an id which comes again. An id that comes once goes back as
 * it came. Which result belongs to which call is told by the order.
 */
import type { Block, Message } from '../../machines/messages.ts';

// The least of the protocols' own bounds.
export const ID_CHARACTERS_MAX = 64;

/** `accepted` makes an id one that the protocol takes, and leaves it as it is where it is one already. */
export function withUniqueCallIds(messages: readonly Message[], accepted: (id: string) => string): readonly Message[] {
  const taken = new Set<string>();
  let unanswered: string[] = [];
  const renamed = (block: Block): Block => {
    if (block.type === 'tool_use') {
      const id = freeIdLike(accepted(block.id), taken);
      taken.add(id);
      unanswered.push(id);
      return { ...block, id };
    }
    if (block.type !== 'tool_result') return block;
    return { ...block, tool_use_id: unanswered.shift() ?? accepted(block.tool_use_id) };
  };
  return messages.map(({ role, content }) => {
    if (role === 'assistant') unanswered = [];
    return { role, content: content.map(renamed) };
  });
}

function freeIdLike(id: string, taken: ReadonlySet<string>): string {
  if (!taken.has(id)) return id;
  for (let count = 2; ; count += 1) {
    const next = `${id.slice(0, ID_CHARACTERS_MAX - `_${count}`.length)}_${count}`;
    if (!taken.has(next)) return next;
  }
}

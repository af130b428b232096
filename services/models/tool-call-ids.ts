/**
 * The ids of tool calls, as a provider takes them that refuses an id which comes again. An id that comes once goes back as
 * it came, and a message whose ids do is the same one. Which result belongs to which call is told by the order.
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
      return id === block.id ? block : { ...block, id };
    }
    if (block.type !== 'tool_result') return block;
    const id = unanswered.shift() ?? accepted(block.tool_use_id);
    return id === block.tool_use_id ? block : { ...block, tool_use_id: id };
  };
  return messages.map((message) => {
    const { role, content } = message;
    if (role === 'assistant') unanswered = [];
    if (!content.some(isOfCall)) return message;
    const blocks = content.map(renamed);
    return blocks.every((block, index) => block === content[index]) ? message : { role, content: blocks };
  });
}

function isOfCall({ type }: Block): boolean {
  return type === 'tool_use' || type === 'tool_result';
}

function freeIdLike(id: string, taken: ReadonlySet<string>): string {
  if (!taken.has(id)) return id;
  for (let count = 2; ; count += 1) {
    const next = `${id.slice(0, ID_CHARACTERS_MAX - `_${count}`.length)}_${count}`;
    if (!taken.has(next)) return next;
  }
}

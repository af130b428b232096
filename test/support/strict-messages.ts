/** What a strict provider would refuse in a list of messages; null where it takes them. */
import { textOf, toolUsesOf, type Message } from '../../machines/messages.ts';

export function strictRefusal(messages: readonly Message[]): string | null {
  let unanswered: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    for (const block of message.role === 'user' ? message.content : []) {
      if (block.type === 'tool_result') {
        if (block.tool_use_id !== unanswered[0]) return `message ${index} has a result that answers no call, or not the next`;
        unanswered = unanswered.slice(1);
      } else if (unanswered.length > 0) {
        return `message ${index} speaks before ${unanswered.length} calls are answered`;
      }
    }
    if (message.role === 'user') continue;
    if (unanswered.length > 0) return `message ${index} comes before ${unanswered.length} calls are answered`;
    if (textOf(message) === '' && toolUsesOf(message).length === 0) return `message ${index} of the assistant is empty`;
    unanswered = toolUsesOf(message).map(({ id }) => id);
  }
  return unanswered.length === 0 ? null : `${unanswered.length} calls are not answered`;
}

/**
 * `npm run chat`: a conversation in the terminal, with a tool that runs here. `BRAIN_URL`, `BRAIN_API_KEY` and
 * `BRAIN_CHAT_MODEL` (`PROVIDER/NAME`) say with whom.
 */
import { Brain } from '../client/index.ts';
import { EXIT_UNAVAILABLE } from './exit-codes.ts';
import { Conversation } from './chat/conversation.ts';

const ECHO_MS = 300;

const { BRAIN_URL: baseUrl = 'http://127.0.0.1:8080', BRAIN_API_KEY: token, BRAIN_CHAT_MODEL: model = 'demo/echo' } = process.env;
const write = (text: string): void => void process.stdout.write(text);
const brain = new Brain({ baseUrl, token, host: 'chat', onError: (error) => write(`\n! ${error.message}\n`) });
const conversation = new Conversation(brain, { lines: process.stdin, write, now: () => new Date(), model });
let interruptedAt = 0;
process.on('SIGINT', () => {
  // npm passes a terminal's Ctrl-C on, so that it arrives twice.
  const isEcho = Math.abs(Date.now() - interruptedAt) < ECHO_MS;
  interruptedAt = Date.now();
  if (!isEcho) conversation.interrupt();
});
process.once('SIGTERM', () => conversation.leave());
try {
  await conversation.hold();
} catch (error) {
  write(`! ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = EXIT_UNAVAILABLE;
} finally {
  await brain.close();
  process.stdin.destroy();
}

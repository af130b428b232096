/**
 * `npm run -s token`: makes, lists and revokes tokens, beside a running server or without one.
 *
 * A new token stands on standard output, alone, so that a script can take it from there; whatever else `create` says is on
 * standard error. The exit code is 0, or 1 with one line.
 */
import { parseTokens, renderTokens, TokensFileError, withNewToken, withoutToken, type Token } from '../services/token-list.ts';
import { systemClock, systemRandom } from '../services/system.ts';
import { utcTime } from '../machines/utc-time.ts';
import { NodeDisk } from '../storage/node-disk.ts';
import { changeTokensFile, tokensFile } from '../storage/tokens-file.ts';
import { parseTokenCommand, TOKEN_HELP, TokenCommandError, type TokenCommand } from './token-command.ts';

// A change takes some milliseconds. Whoever waits this long waits for something that hangs.
const WAIT_MS = 10_000;
const RETRY_MS = 20;

const disk = new NodeDisk();

async function run(command: TokenCommand): Promise<void> {
  switch (command.kind) {
    case 'help':
      process.stdout.write(TOKEN_HELP);
      return;
    case 'list': {
      const tokens = await onFile(command.path, async () => parseTokens(await tokensFile(disk, command.path).read()));
      process.stdout.write(tableOf(tokens.filter(({ tenant }) => command.tenant === null || tenant === command.tenant)));
      return;
    }
    case 'revoke':
      await change(command.path, (tokens) => withoutToken(tokens, command.id));
      process.stdout.write(`revoked ${command.id}\n`);
      return;
    case 'create':
      await create(command);
  }
}

async function create({ path, tenant, scope, sessionId, expires }: TokenCommand & { readonly kind: 'create' }): Promise<void> {
  const now = systemClock.now();
  const expiresAt = expires === null ? null : 'at' in expires ? expires.at : now + expires.afterMs;
  if (expiresAt !== null && expiresAt <= now) throw new TokenCommandError('--expires is a time that has passed');
  let text = '';
  await change(path, (tokens) => {
    const made = withNewToken(tokens, { tenant, scope, session_id: sessionId, expires_at: expiresAt }, { random: systemRandom, now });
    ({ text } = made);
    return made.tokens;
  });
  process.stdout.write(`${text}\n`);
  process.stderr.write('this is the only time that the token is shown; `list` tells its id\n');
}

async function change(path: string, changed: (tokens: readonly Token[]) => readonly Token[]): Promise<void> {
  const deadline = systemClock.monotonic() + WAIT_MS;
  const once = (): Promise<boolean> => onFile(path, () => changeTokensFile(disk, path, (bytes) => renderTokens(changed(parseTokens(bytes)))));
  while (!(await once())) {
    if (systemClock.monotonic() > deadline) throw new TokenCommandError('another command has been changing the tokens for too long; try again');
    await new Promise<void>((resolve) => systemClock.after(RETRY_MS, resolve));
  }
}

function tableOf(tokens: readonly Token[]): string {
  const now = systemClock.now();
  const rows = [
    ['id', 'tenant', 'scope', 'session', 'created', 'expires'],
    ...tokens.map(({ id, tenant, scope, session_id, created_at, expires_at }) => [
      id,
      tenant,
      scope,
      session_id ?? '-',
      utcTime(created_at),
      expires_at === null ? '-' : `${utcTime(expires_at)}${now >= expires_at ? ' (expired)' : ''}`,
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()}\n`).join('');
}

/** What is wrong with the file or on its way there names the file. */
async function onFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TokenCommandError) throw error;
    if (error instanceof TokensFileError) throw new TokenCommandError(`${error.message} (${path})`);
    throw new TokenCommandError(`the tokens file ${path} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}

try {
  await run(parseTokenCommand(process.argv.slice(2), process.env));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

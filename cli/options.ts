/**
 * Options from the command line and the environment; flags win. A value that is not usable stops the start with one line
 * that names the option, the value and what would be right: a server that guesses runs with another limit than its
 * operator believes.
 *
 *   O1. An empty variable is one that is not set, but for the key: an empty key is an accident that opens the server.
 *   O2. No value of a secret is in a message.
 *   O3. A variable that begins with `BRAIN_` and is none of ours is a warning and no error: the environment is shared.
 */
import { isLoopbackHost } from '../http/loopback.ts';
import { flagOf, OPTIONS, shownFallback, type Option, type Options } from './option-table.ts';

export type ParsedOptions =
  | { readonly ok: true; readonly options: Options; readonly warnings: readonly string[] }
  /** Exit code 0 is the help that was asked for; it belongs on standard output. */
  | { readonly ok: false; readonly message: string; readonly exitCode: 0 | 1 };

type Environment = Readonly<Record<string, string | undefined>>;

export function parseOptions(argv: readonly string[], environment: Environment): ParsedOptions {
  if (argv.includes('--help')) return { ok: false, message: helpText(), exitCode: 0 };
  try {
    const flags = parseFlags(argv);
    const options = readAll(flags, environment);
    refuseOpenDoor(options);
    return { ok: true, options, warnings: warningsAbout(environment) };
  } catch (error) {
    if (error instanceof OptionError) return { ok: false, message: error.message, exitCode: 1 };
    throw error;
  }
}

class OptionError extends Error {
  override readonly name = 'OptionError';
}

function parseFlags(argv: readonly string[]): ReadonlyMap<string, string> {
  const known = new Set(Object.values(OPTIONS).flatMap((option) => flagOf(option) ?? []));
  const flags = new Map<string, string>();
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const [, flag, inline] = /^(--[^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    if (flag === undefined || !known.has(flag)) throw new OptionError(unknownArgument(flag ?? argument));
    if (flags.has(flag)) throw new OptionError(`${flag} is given twice; give it once`);
    const value = inline ?? (rest[0]?.startsWith('--') === true ? undefined : rest.shift());
    if (value === undefined) throw new OptionError(`${flag} needs a value: ${flag} VALUE or ${flag}=VALUE`);
    flags.set(flag, value);
  }
  return flags;
}

function unknownArgument(argument: string): string {
  const secret = Object.values(OPTIONS).find((option) => option.isSecret && flagOf({ ...option, isSecret: false }) === argument);
  if (secret !== undefined) return `${argument} is no option: a secret has no flag; set ${secret.variable} in the environment`;
  return `${shown(argument)} is no option of this server; --help lists them`;
}

function readAll(flags: ReadonlyMap<string, string>, environment: Environment): Options {
  function read<T>(option: Option<T>): T {
    const flag = flagOf(option);
    const given = flag === null ? undefined : flags.get(flag);
    if (flag !== null && given !== undefined) return parsed(option, flag, given);
    const variable = environment[option.variable];
    const isSet = variable !== undefined && (variable !== '' || option === OPTIONS.apiKey);
    if (isSet) return parsed(option, option.variable, variable);
    return 'value' in option.fallback ? option.fallback.value : parsed(option, option.variable, option.fallback.text);
  }
  return {
    listen: read(OPTIONS.listen),
    dataDirectory: read(OPTIONS.dataDirectory),
    apiKey: read(OPTIONS.apiKey),
    tokensFile: read(OPTIONS.tokensFile),
    vaultKey: read(OPTIONS.vaultKey),
    providersFile: read(OPTIONS.providersFile),
    openaiBaseUrl: read(OPTIONS.openaiBaseUrl),
    openaiApiKey: read(OPTIONS.openaiApiKey),
    anthropicBaseUrl: read(OPTIONS.anthropicBaseUrl),
    anthropicApiKey: read(OPTIONS.anthropicApiKey),
    toolsFile: read(OPTIONS.toolsFile),
    publicUrl: read(OPTIONS.publicUrl),
    modelCallsMax: read(OPTIONS.modelCallsMax),
    turnMsMax: read(OPTIONS.turnMsMax),
    toolMsMax: read(OPTIONS.toolMsMax),
    cancelMs: read(OPTIONS.cancelMs),
    runningTurnsMax: read(OPTIONS.runningTurnsMax),
    queueMessagesMax: read(OPTIONS.queueMessagesMax),
    emittedBytesMax: read(OPTIONS.emittedBytesMax),
    bodyBytesMax: read(OPTIONS.bodyBytesMax),
    corsOrigins: read(OPTIONS.corsOrigins),
    retain: read(OPTIONS.retain),
    drainMs: read(OPTIONS.drainMs),
    telemetryFile: read(OPTIONS.telemetryFile),
    logLevel: read(OPTIONS.logLevel),
  };
}

function parsed<T>(option: Option<T>, name: string, text: string): T {
  const result = option.parse(text);
  if (result !== null) return result.value;
  const found = option.isSecret ? `${name} is not usable` : `${name} is ${shown(text)}`;
  throw new OptionError(`${found}: it must be ${option.takes}`);
}

/** One line, whatever the value is. */
function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

function refuseOpenDoor({ listen, apiKey }: Options): void {
  if (apiKey !== undefined || isLoopbackHost(listen.host)) return;
  throw new OptionError(
    `BRAIN_LISTEN is ${shown(listen.host)}: without BRAIN_API_KEY it must be a loopback address such as 127.0.0.1, since anybody could call`,
  );
}

function warningsAbout(environment: Environment): readonly string[] {
  const known = new Set(Object.values(OPTIONS).map((option) => option.variable));
  return Object.keys(environment)
    .filter((variable) => variable.startsWith('BRAIN_') && !known.has(variable))
    .sort()
    .map((variable) => `${variable} is no option of this server and is ignored; --help lists them`);
}

function helpText(): string {
  const options = Object.values(OPTIONS).map((option) => {
    const flag = flagOf(option);
    const names = flag === null ? option.variable : `${flag} VALUE, or ${option.variable}`;
    return `  ${names}\n      ${option.meaning}\n      Takes ${option.takes}. Default: ${shownFallback(option)}.`;
  });
  return ['Starts a Brain server. Flags win over the environment.', '', ...options, ''].join('\n');
}

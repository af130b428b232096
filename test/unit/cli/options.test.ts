import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { flagOf, OPTIONS, shownFallback, type Options } from '../../../cli/option-table.ts';
import { parseOptions } from '../../../cli/options.ts';

const DEFAULTS: Options = {
  listen: { host: '127.0.0.1', port: 8080 },
  dataDirectory: 'brain-data',
  apiKey: undefined,
  tokensFile: undefined,
  vaultKey: null,
  providersFile: undefined,
  openaiBaseUrl: undefined,
  openaiApiKey: undefined,
  anthropicBaseUrl: undefined,
  anthropicApiKey: undefined,
  toolsFile: undefined,
  publicUrl: undefined,
  modelCallsMax: 128,
  turnMsMax: 1_800_000,
  toolMsMax: 600_000,
  cancelMs: 10_000,
  runningTurnsMax: 64,
  queueMessagesMax: 16,
  emittedBytesMax: 1_048_576,
  bodyBytesMax: 8_388_608,
  corsOrigins: [],
  retain: null,
  drainMs: null,
  telemetryFile: undefined,
  logLevel: 'info',
};

function optionsOf(argv: readonly string[], environment: Readonly<Record<string, string>> = {}): Options {
  const parsed = parseOptions(argv, environment);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.options;
}

function refusalOf(argv: readonly string[], environment: Readonly<Record<string, string>> = {}): string {
  const parsed = parseOptions(argv, environment);
  if (parsed.ok) throw new Error('nothing was refused');
  expect(parsed.exitCode).toBe(1);
  expect(parsed.message).not.toMatch(/[\r\n]/);
  return parsed.message;
}

describe('options', () => {
  it('S-043, S-107, L-008: have the defaults of the documentation where nothing is given', () => {
    expect(optionsOf([])).toEqual(DEFAULTS);
  });

  it('come from the environment', () => {
    expect(
      optionsOf([], {
        BRAIN_LISTEN: '[::1]:0',
        BRAIN_DATA_DIR: '/srv/a b',
        BRAIN_API_KEY: 'k',
        BRAIN_TOKENS_FILE: 'tokens.json',
        BRAIN_OPENAI_BASE_URL: 'http://127.0.0.1:1/v1/',
        OPENAI_API_KEY: 'sk',
        BRAIN_PROVIDERS_FILE: 'p.json',
        BRAIN_ANTHROPIC_BASE_URL: 'http://127.0.0.1:2/v1',
        BRAIN_PUBLIC_URL: 'https://Brain.example.com/api/',
        ANTHROPIC_API_KEY: 'sk-ant',
        BRAIN_TOOLS_FILE: 'tools.mjs',
        BRAIN_MAX_MODEL_CALLS: '1',
        BRAIN_MAX_TURN_SECS: '2',
        BRAIN_MAX_TOOL_SECS: '3',
        BRAIN_CANCEL_SECS: '4',
        BRAIN_MAX_RUNNING_TURNS: '9',
        BRAIN_QUEUE_MESSAGES: '10',
        BRAIN_MAX_EMITTED_BYTES: '5',
        BRAIN_MAX_BODY_BYTES: '6',
        BRAIN_CORS_ORIGINS: 'https://a.example, http://localhost:5173,https://a.example',
        BRAIN_SESSION_IDLE_TTL_SECS: '7',
        BRAIN_DRAIN_SECS: '8',
        BRAIN_TELEMETRY_FILE: 'telemetry.jsonl',
        BRAIN_VAULT_KEY: Buffer.alloc(32, 9).toString('base64'),
        BRAIN_LOG_LEVEL: 'debug',
      }),
    ).toEqual({
      listen: { host: '::1', port: 0 },
      dataDirectory: '/srv/a b',
      apiKey: 'k',
      tokensFile: 'tokens.json',
      openaiBaseUrl: 'http://127.0.0.1:1/v1/',
      openaiApiKey: 'sk',
      providersFile: 'p.json',
      anthropicBaseUrl: 'http://127.0.0.1:2/v1',
      anthropicApiKey: 'sk-ant',
      toolsFile: 'tools.mjs',
      publicUrl: 'https://brain.example.com/api',
      modelCallsMax: 1,
      turnMsMax: 2000,
      toolMsMax: 3000,
      cancelMs: 4000,
      runningTurnsMax: 9,
      queueMessagesMax: 10,
      emittedBytesMax: 5,
      bodyBytesMax: 6,
      corsOrigins: ['https://a.example', 'http://localhost:5173'],
      retain: 7000,
      drainMs: 8000,
      telemetryFile: 'telemetry.jsonl',
      vaultKey: { text: Buffer.alloc(32, 9).toString('base64'), bytes: new Uint8Array(32).fill(9) },
      logLevel: 'debug',
    });
  });

  it('are flags in either form, and flags win', () => {
    const environment = { BRAIN_DATA_DIR: 'environment', BRAIN_MAX_TURN_SECS: 'not looked at' };
    expect(optionsOf(['--data-dir', 'flag', '--max-turn-secs=5'], environment)).toEqual({ ...DEFAULTS, dataDirectory: 'flag', turnMsMax: 5000 });
    expect(optionsOf(['--data-dir=a=b']).dataDirectory).toBe('a=b');
  });

  it('S-108: take zero as zero: no bound for a turn, no end to a stay', () => {
    const zeros = Object.fromEntries(
      ['MAX_MODEL_CALLS', 'MAX_TURN_SECS', 'MAX_TOOL_SECS', 'DRAIN_SECS', 'SESSION_IDLE_TTL_SECS', 'CANCEL_SECS', 'MAX_EMITTED_BYTES', 'QUEUE_MESSAGES'].map(
        (name) => [`BRAIN_${name}`, '0'],
      ),
    );
    expect(optionsOf([], zeros)).toEqual({
      ...DEFAULTS,
      modelCallsMax: null,
      turnMsMax: null,
      toolMsMax: null,
      drainMs: null,
      retain: 0,
      cancelMs: 0,
      emittedBytesMax: 0,
      queueMessagesMax: 0,
    });
  });

  it('count an empty variable as unset, but an empty key as a mistake', () => {
    expect(optionsOf([], { BRAIN_MAX_TURN_SECS: '', BRAIN_SESSION_IDLE_TTL_SECS: '', OPENAI_API_KEY: '' })).toEqual(DEFAULTS);
    expect(refusalOf([], { BRAIN_API_KEY: '' })).toMatch(/^BRAIN_API_KEY is not usable: it must be printable ASCII/);
  });

  it.each([
    ['BRAIN_LISTEN', '8080'],
    ['BRAIN_LISTEN', 'localhost'],
    ['BRAIN_LISTEN', '127.0.0.1:65536'],
    ['BRAIN_LISTEN', '::1:80'],
    ['BRAIN_LISTEN', 'http://127.0.0.1:80'],
    ['BRAIN_OPENAI_BASE_URL', 'api.openai.com'],
    ['BRAIN_OPENAI_BASE_URL', 'ftp://x'],
    ['BRAIN_PUBLIC_URL', 'brain.example.com'],
    ['BRAIN_PUBLIC_URL', 'https://user:pass@x'],
    ['BRAIN_PUBLIC_URL', 'https://x/?a=1'],
    ['BRAIN_PUBLIC_URL', 'https://x/#a'],
    ['BRAIN_ANTHROPIC_BASE_URL', 'https://user:pass@x/v1'],
    ['BRAIN_OPENAI_BASE_URL', 'https://user:pass@x/v1'],
    ['BRAIN_OPENAI_BASE_URL', 'https://x/v1?key=1'],
    ['BRAIN_MAX_MODEL_CALLS', '-1'],
    ['BRAIN_MAX_MODEL_CALLS', '1e3'],
    ['BRAIN_MAX_TURN_SECS', '1.5'],
    ['BRAIN_MAX_TURN_SECS', '30s'],
    ['BRAIN_MAX_TURN_SECS', ' 5'],
    ['BRAIN_MAX_TOOL_SECS', '99999999999'],
    ['BRAIN_CANCEL_SECS', 'NaN'],
    ['BRAIN_MAX_RUNNING_TURNS', '0'],
    ['BRAIN_MAX_RUNNING_TURNS', 'all'],
    ['BRAIN_QUEUE_MESSAGES', '-1'],
    ['BRAIN_QUEUE_MESSAGES', '1001'],
    ['BRAIN_MAX_EMITTED_BYTES', '1MiB'],
    ['BRAIN_MAX_BODY_BYTES', '0'],
    ['BRAIN_MAX_BODY_BYTES', '999999999999'],
    ['BRAIN_CORS_ORIGINS', '*'],
    ['BRAIN_CORS_ORIGINS', 'null'],
    ['BRAIN_CORS_ORIGINS', 'app.example.com'],
    ['BRAIN_CORS_ORIGINS', 'https://app.example.com/'],
    ['BRAIN_CORS_ORIGINS', 'https://App.example.com'],
    ['BRAIN_CORS_ORIGINS', 'https://app.example.com:443'],
    ['BRAIN_CORS_ORIGINS', 'https://*.example.com'],
    ['BRAIN_CORS_ORIGINS', 'https://a.example,'],
    ['BRAIN_CORS_ORIGINS', 'https://a.example https://b.example'],
    ['BRAIN_SESSION_IDLE_TTL_SECS', 'never'],
    ['BRAIN_DRAIN_SECS', '+1'],
    ['BRAIN_LOG_LEVEL', 'INFO'],
    ['BRAIN_LOG_LEVEL', 'a\nb'],
  ])('stop the start where %s is %j, with one line that says what would be right', (variable, value) => {
    const option = Object.values(OPTIONS).find((candidate) => candidate.variable === variable);
    expect(refusalOf([], { [variable]: value })).toBe(`${variable} is ${JSON.stringify(value)}: it must be ${option?.takes ?? ''}`);
    const flag = option === undefined ? null : flagOf(option);
    expect(refusalOf([`${flag ?? ''}=${value}`])).toBe(`${flag ?? ''} is ${JSON.stringify(value)}: it must be ${option?.takes ?? ''}`);
  });

  it.each([
    [['--nothing'], '"--nothing" is no option of this server; --help lists them'],
    [['start'], '"start" is no option of this server; --help lists them'],
    [['-x'], '"-x" is no option of this server; --help lists them'],
    [['--'], '"--" is no option of this server; --help lists them'],
    [['--data-dir'], '--data-dir needs a value: --data-dir VALUE or --data-dir=VALUE'],
    [['--data-dir', '--log-level', 'info'], '--data-dir needs a value: --data-dir VALUE or --data-dir=VALUE'],
    [['--data-dir='], '--data-dir is "": it must be the path of a directory'],
    [['--data-dir', 'a', '--data-dir', 'b'], '--data-dir is given twice; give it once'],
    [['--api-key', 'canary'], '--api-key is no option: a secret has no flag; set BRAIN_API_KEY in the environment'],
    [['--openai-api-key=canary'], '--openai-api-key is no option: a secret has no flag; set OPENAI_API_KEY in the environment'],
  ])('refuse the arguments %j', (argv, message) => {
    expect(refusalOf(argv)).toBe(message);
  });

  it('show no secret that is not usable', () => {
    expect(refusalOf([], { BRAIN_API_KEY: 'canary with spaces' })).not.toContain('canary');
    expect(refusalOf([], { OPENAI_API_KEY: 'canary\n' })).not.toContain('canary');
    expect(refusalOf([], { ANTHROPIC_API_KEY: 'canary\n' })).not.toContain('canary');
  });

  it.each(['0.0.0.0:80', '[::]:80', '10.0.0.1:80', 'brain.example.com:80', '127.evil.com:80'])(
    'refuse to listen at %s without a key, and listen there with one',
    (listen) => {
      expect(refusalOf(['--listen', listen])).toMatch(/without BRAIN_API_KEY it must be a loopback address/);
      expect(optionsOf(['--listen', listen], { BRAIN_API_KEY: 'k' }).listen.port).toBe(80);
    },
  );

  it.each(['localhost:80', '127.9.9.9:80', '[::1]:80'])('listen at %s without a key', (listen) => {
    expect(optionsOf(['--listen', listen]).listen.port).toBe(80);
  });

  it('warn of a variable that looks like one of theirs and is not', () => {
    const parsed = parseOptions([], { BRAIN_MAX_TURN_SEC: '5', BRAIN_LISTEN: '127.0.0.1:1', PATH: '/bin' });
    expect(parsed).toMatchObject({ ok: true, warnings: ['BRAIN_MAX_TURN_SEC is no option of this server and is ignored; --help lists them'] });
  });

  it('take a vault key of 32 bytes in base64, and show no other in the refusal', () => {
    const text = Buffer.alloc(32, 7).toString('base64');
    expect(optionsOf([], { BRAIN_VAULT_KEY: text }).vaultKey).toEqual({ text, bytes: new Uint8Array(32).fill(7) });

    for (const wrong of [Buffer.alloc(31, 7).toString('base64'), Buffer.alloc(33, 7).toString('base64'), text.slice(0, -1), `${text} `, 'canary'.repeat(8)]) {
      expect(refusalOf([], { BRAIN_VAULT_KEY: wrong })).toBe(
        'BRAIN_VAULT_KEY is not usable: it must be 32 bytes in base64, such as `openssl rand -base64 32` prints',
      );
    }
  });

  it('explain themselves, whatever else is given', () => {
    const parsed = parseOptions(['--nothing', '--help'], {});
    expect(parsed).toMatchObject({ ok: false, exitCode: 0 });
    for (const option of Object.values(OPTIONS)) expect(parsed).toMatchObject({ message: expect.stringContaining(option.variable) as string });
  });

  it('S-112: are what docs/configuration.md says', async () => {
    const text = await readFile(path.resolve(import.meta.dirname, '../../../docs/configuration.md'), 'utf8');
    // The page's other tables are of other things.
    const documented = text.split('\n').filter((line) => /^\| `[A-Z]+_/.test(line));
    const expected = Object.values(OPTIONS).map((option) => {
      const flag = flagOf(option);
      return `| \`${option.variable}\` | ${flag === null ? '—' : `\`${flag}\``} | ${shownFallback(option)} | ${option.takes} | ${option.meaning} |`;
    });
    expect(documented).toEqual(expected);
  });
});

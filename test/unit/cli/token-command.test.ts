import { describe, expect, it } from 'vitest';
import { parseTokenCommand, TokenCommandError, type TokenCommand } from '../../../cli/token-command.ts';

const SESSION = 'ab'.repeat(16);

function parse(line: string, environment: Readonly<Record<string, string>> = {}): TokenCommand {
  return parseTokenCommand(line === '' ? [] : line.split(' '), environment);
}

function refusalOf(line: string, environment: Readonly<Record<string, string>> = {}): string {
  try {
    parse(line, environment);
  } catch (error) {
    expect(error).toBeInstanceOf(TokenCommandError);
    return (error as TokenCommandError).message;
  }
  throw new Error('nothing was refused');
}

describe('a create', () => {
  it('says whose token it is to be, what it may do, and for how long', () => {
    const path = 'brain-data/tokens.json';
    expect(parse('create --tenant acme --scope read')).toEqual({ kind: 'create', path, tenant: 'acme', scope: 'read', sessionId: null, expires: null });
    expect(parse(`create --scope=manage --tenant=b --session ${SESSION}`)).toMatchObject({ scope: 'manage', sessionId: SESSION });
  });

  it.each([
    ['90s', { afterMs: 90_000 }],
    ['45m', { afterMs: 2_700_000 }],
    ['12h', { afterMs: 43_200_000 }],
    ['30d', { afterMs: 2_592_000_000 }],
    ['2027-01-01T00:00:00Z', { at: Date.UTC(2027, 0, 1) }],
  ])('takes %s for an expiry', (text, expires) => {
    expect(parse(`create --tenant a --scope read --expires ${text}`)).toMatchObject({ expires });
  });

  it.each(['', '0d', '-1d', '1', '1w', '1.5h', 'never', '2027-01-01', '2027-02-30T00:00:00Z', '12345678d'])('takes no other expiry: %j', (text) => {
    expect(refusalOf(`create --tenant a --scope read --expires=${text}`)).toMatch(/--expires.*30d.*2027-01-01T00:00:00Z/);
  });

  it.each([
    ['create --scope read', /--tenant/],
    ['create --tenant a', /--scope.*read, send, manage/],
    ['create --tenant a --scope admin', /--scope.*read, send, manage/],
    ['create --tenant a --scope', /--scope/],
    ['create acme --tenant a --scope read', /"acme"/],
    ['create --tenant a --scope read --api-key x', /--api-key/],
  ])('%s says in one line what is wrong', (line, message) => {
    expect(refusalOf(line)).toMatch(message);
    expect(refusalOf(line)).not.toMatch(/\n/);
  });
});

describe('the other commands', () => {
  it('take what they need and nothing else', () => {
    expect(parse('list')).toMatchObject({ kind: 'list', tenant: null });
    expect(parse('list --tenant acme')).toMatchObject({ kind: 'list', tenant: 'acme' });
    expect(parse('revoke 0a1b')).toMatchObject({ kind: 'revoke', id: '0a1b' });
    expect(refusalOf('revoke')).toMatch(/id/);
    expect(refusalOf('revoke a b')).toMatch(/"b"/);
    expect(refusalOf('revoke a --tenant b')).toMatch(/--tenant/);
    expect(refusalOf('list --scope read')).toMatch(/--scope/);
    expect(refusalOf('rotate')).toMatch(/"rotate".*create, list and revoke/);
  });

  it.each(['', '--help', 'create --help'])('are explained where %j asks for it', (line) => {
    expect(parse(line)).toEqual({ kind: 'help' });
  });
});

describe('the file', () => {
  it('is where the server has it', () => {
    expect(parse('list')).toMatchObject({ path: 'brain-data/tokens.json' });
    expect(parse('list', { BRAIN_DATA_DIR: '/srv/brain', BRAIN_TOKENS_FILE: '' })).toMatchObject({ path: '/srv/brain/tokens.json' });
    expect(parse('list --data-dir /srv/b', { BRAIN_DATA_DIR: '/srv/brain' })).toMatchObject({ path: '/srv/b/tokens.json' });
    expect(parse('list --data-dir /srv/b', { BRAIN_TOKENS_FILE: '/etc/t.json' })).toMatchObject({ path: '/etc/t.json' });
    expect(parse('list --tokens-file t.json', { BRAIN_TOKENS_FILE: '/etc/t.json' })).toMatchObject({ path: 't.json' });
    expect(refusalOf('list --tokens-file=')).toMatch(/BRAIN_TOKENS_FILE/);
  });
});

/**
 * The operator's own providers: a JSON file, read once, at start. Whatever is wrong with it stops the start, and all of it
 * is told at once, in a line for each fault. A key is never in the file: it names the variable that holds it.
 */
import { isName } from '../names.ts';
import { BASE_URL, parseBaseUrl } from './base-url.ts';
import { PROVIDER_PROTOCOLS, type ConfiguredProvider, type ProviderProtocol } from './configured-providers.ts';
import { DEMO_MODEL } from './demo-provider.ts';

/** What is wrong with the file, a line for each fault, for the operator. */
export class ProvidersFileError extends Error {
  override readonly name = 'ProvidersFileError';
  readonly code = 'providers_file_invalid';
}

export interface ProvidersFile {
  readonly path: string;
  readonly text: string;
  /** What the process was given in its environment under a name. */
  readonly variable: (name: string) => string | undefined;
}

const FIELDS: readonly string[] = ['name', 'protocol', 'base_url', 'api_key_env', 'models'];
const MODEL_NAME = /^\P{Cc}{1,256}$/u;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const KEY = /^[\x21-\x7e]+$/;

/** The providers of the file, with their keys. Throws a `ProvidersFileError`. */
export function parseProvidersFile({ path, text, variable }: ProvidersFile): readonly ConfiguredProvider[] {
  const fail = (faults: readonly string[]): ProvidersFileError =>
    new ProvidersFileError(faults.map((fault) => `the providers file ${path}: ${fault}`).join('\n'));
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw fail([`it is no JSON${lineOf(error, text)}`]);
  }
  const list = isRecord(file) && Object.keys(file).length === 1 ? file['providers'] : undefined;
  if (!Array.isArray(list)) throw fail(['it must be an object with one field, providers, which is a list']);
  const entries = list.map((entry: unknown, index) => parseEntry(entry, { place: placeOf(entry, index), variable }));
  const names = entries.map(({ provider }) => provider?.name);
  const repeated = names.flatMap((name, index) =>
    name !== undefined && names.indexOf(name) !== index ? [`provider ${name}, field name: must be another one, as there is a provider ${name} already`] : [],
  );
  const faults = [...entries.flatMap((entry) => entry.faults), ...repeated];
  if (faults.length > 0) throw fail(faults);
  return entries.flatMap(({ provider }) => (provider === null ? [] : [provider]));
}

interface Entry {
  readonly faults: readonly string[];
  /** Null where one of its fields is at fault. */
  readonly provider: ConfiguredProvider | null;
}

function parseEntry(entry: unknown, { place, variable }: { readonly place: string; readonly variable: ProvidersFile['variable'] }): Entry {
  if (!isRecord(entry)) return { faults: [`${place}: must be an object`], provider: null };
  const faults: string[] = [];
  const fault = (field: string, what: string): null => {
    faults.push(`${place}, field ${field}: ${what}`);
    return null;
  };
  for (const field of Object.keys(entry)) {
    if (!FIELDS.includes(field)) fault(field, `is none; a provider has ${FIELDS.join(', ')}`);
  }
  const { name, protocol, base_url, api_key_env: keyVariable, models } = entry;
  const parsed = {
    name: parseName(name) ?? fault('name', 'must be 1 to 128 letters, digits, or . _ : - after the first, and not demo'),
    protocol: parseProtocol(protocol) ?? fault('protocol', `must be one of ${PROVIDER_PROTOCOLS.join(', ')}`),
    base_url: (typeof base_url === 'string' ? parseBaseUrl(base_url) : null) ?? fault('base_url', `must be ${BASE_URL}`),
    apiKey: keyVariable === undefined ? undefined : keyIn(keyVariable, { variable, fault }),
    models: models === undefined ? undefined : (parseModels(models) ?? fault('models', 'must be a list of one or more names of models')),
  };
  if (faults.length > 0 || parsed.name === null || parsed.protocol === null || parsed.base_url === null) {
    return { faults, provider: null };
  }
  return {
    faults,
    provider: {
      name: parsed.name,
      protocol: parsed.protocol,
      base_url: parsed.base_url,
      ...(typeof parsed.apiKey === 'string' ? { api_key: parsed.apiKey } : {}),
      ...(parsed.models === undefined || parsed.models === null ? {} : { models: parsed.models }),
    },
  };
}

/** A variable that is not there is a fault, and not a provider without a key: that would be found out by each session. */
function keyIn(
  keyVariable: unknown,
  { variable, fault }: { readonly variable: ProvidersFile['variable']; readonly fault: (field: string, what: string) => null },
): string | null {
  const field = 'api_key_env';
  if (typeof keyVariable !== 'string' || !VARIABLE.test(keyVariable)) return fault(field, 'must be the name of an environment variable');
  const key = variable(keyVariable);
  if (key === undefined || key === '') return fault(field, `must name a variable that is set; ${keyVariable} is not`);
  return KEY.test(key) ? key : fault(field, `must name a variable that holds printable ASCII without spaces; ${keyVariable} does not`);
}

function parseName(name: unknown): string | null {
  return typeof name === 'string' && isName(name) && name !== DEMO_MODEL.provider ? name : null;
}

function parseProtocol(protocol: unknown): ProviderProtocol | null {
  return PROVIDER_PROTOCOLS.find((known) => known === protocol) ?? null;
}

function parseModels(models: unknown): readonly string[] | null {
  if (!Array.isArray(models) || models.length === 0) return null;
  const names = models.filter((model: unknown): model is string => typeof model === 'string' && MODEL_NAME.test(model));
  return names.length === models.length ? names : null;
}

/** By its name where it has one that can be shown. */
function placeOf(entry: unknown, index: number): string {
  const name = isRecord(entry) ? entry['name'] : undefined;
  return typeof name === 'string' && isName(name) ? `provider ${name}` : `provider number ${index + 1}`;
}

/** The line alone: what the runtime quotes of it may be a key that does not belong there. */
function lineOf(error: unknown, text: string): string {
  const [, position] = /at position (\d+)/.exec(String(error)) ?? [];
  return position === undefined ? '' : `, from line ${text.slice(0, Number(position)).split('\n').length} on`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

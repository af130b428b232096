/** The session chart as a document: pictures and tables, all of them from the chart's own transitions. */
import { chartTransitions, type ChartTransition } from '../../machines/chart-outline.ts';
import { CHART_STATES, STATUS_OF_STATE } from '../../machines/projections/status.ts';
import { RECORD_VISIBILITY, type RecordType } from '../../machines/records.ts';

/** From the project's root. */
export const CHART_DOCUMENT_PATH = 'docs/charts/session-chart.md';

/** What each guard asks. A guard without words stops the document. */
const GUARD_WORDS: ReadonlyMap<string, string> = new Map([
  ['activationOpen', 'it names the running turn, whose loop is at work'],
  ['allAttached', 'every environment is attached'],
  ['atCheckpoint', 'it names the checkpoint'],
  ['attached', 'the environment is attached, and was not told to detach'],
  ['callerOverrules', 'it is the caller\'s, after a deadline\'s or a shutdown\'s'],
  ['closesOpenEffect', 'it names an open effect of its kind'],
  ['closesOpenEffectOfTurn', 'it names the running turn and an open effect of its kind'],
  ['deltaFits', 'it keeps and replaces just what is saved'],
  ['deltaOfTurnFits', 'it names the running turn, whose loop is at work, and keeps and replaces just what is saved'],
  ['endMayBeAsked', 'it is the first, or interrupts where the first waits'],
  ['firstRecord', 'it is the first record'],
  ['headOfQueue', 'it names the message that has waited longest, and no end was asked for'],
  ['held', 'a stopped turn holds the session'],
  ['heldAndCancelled', 'a stopped turn holds the session, and its caller cancelled it'],
  ['inQueue', 'it names a waiting message'],
  ['mayBeThere', 'something of the environment is, or may be, there, and nothing is under way on it'],
  ['noActivationYet', 'it names the running turn, whose loop has not begun'],
  ['noEndAsked', 'no end was asked for'],
  ['notSetUpYet', 'the environment was not set up before'],
  ['nothingOpen', 'no effect is open'],
  ['ofTurn', 'it names the running turn'],
  ['originOpen', 'it names the running turn, and an origin that is under way or none'],
  ['queueEmpty', 'no message waits'],
  ['queueEmptyAndNoEndAsked', 'no message waits, and no end was asked for'],
  ['retained', 'the session is retained'],
  ['turnMayEnd', 'it names the running turn, its loop has run, no effect is open, it says what follows, and no message waits where an end was asked for'],
  ['turnMayFail', 'it names the running turn, no effect is open, no message waits, it says whether an end follows, and its code is that of the recorded cancel'],
]);

export function chartDocument(): string {
  const transitions = chartTransitions();
  return [
    '# The session chart',
    '',
    'Made by `npm run charts` from the charts in `machines/`; a test fails where this page and the charts differ. Records',
    'that leave the state as it is stand in the tables only. The words in brackets are guards, explained below. The turn has a',
    'chart of its own, which is mounted as the state `running`.',
    '',
    ...picture(transitions),
    '',
    '## States and their records',
    '',
    'Of several lines for one record the first that applies is taken. Every record that a state does not list is refused.',
    '',
    ...SOURCES.flatMap((state) => stateSection(state, transitions)),
    '## Guards',
    '',
    ...table(['guard', 'holds where'], guardsOf(transitions).map((guard) => [code(guard), wordsOf(guard)])),
    '',
    '## Records and who sees them',
    '',
    ...table(['record', 'shown among public events'], Object.entries(RECORD_VISIBILITY).map(([type, visibility]) => [code(type), SHOWN[visibility]])),
    '',
  ].join('\n');
}

type Source = ChartTransition['source'];

/** What both states of a turn accept stands before them. */
const SOURCES: readonly Source[] = CHART_STATES.flatMap((state): readonly Source[] =>
  state === 'running.working' ? ['running', state] : [state],
);

const SHOWN: Readonly<Record<(typeof RECORD_VISIBILITY)[RecordType], string>> = {
  public: 'yes',
  private: 'no',
  where_replacing: 'as `transcript_replaced`, where it replaces something',
};

function picture(transitions: readonly ChartTransition[]): readonly string[] {
  const changing = transitions.filter(({ target }) => target !== null);
  const withinTurn = changing.filter(({ source, target }) => isOfTurn(source) && isOfTurn(target));
  const others = changing.filter((one) => !withinTurn.includes(one));
  return [
    '```mermaid',
    'stateDiagram-v2',
    '  state "working" as running_working',
    '  state "cancelling" as running_cancelling',
    '  state running {',
    ...withinTurn.map((one) => `  ${arrow(one)}`),
    '  }',
    ...others.map(arrow),
    '```',
  ];
}

function isOfTurn(state: Source | null): boolean {
  return state?.startsWith('running') ?? false;
}

function arrow({ source, type, guards, target }: ChartTransition): string {
  const from = source === 'none' ? '[*]' : idOf(source);
  const when = guards.length === 0 ? '' : ` [${guards.join(', ')}]`;
  return `  ${from} --> ${idOf(target ?? source)}: ${type}${when}`;
}

/** Pictures know no dots in names. */
function idOf(state: Source): string {
  return state.replace('.', '_');
}

function stateSection(state: Source, transitions: readonly ChartTransition[]): readonly string[] {
  const rows = transitions
    .filter(({ source }) => source === state)
    .map(({ type, guards, target }) => [code(type), guards.map(worded).join('; '), target === null ? 'stays' : code(target)]);
  return [`### ${code(state)}`, '', publicReading(state), '', ...table(['record', 'where', 'leads to'], rows), ''];
}

function publicReading(state: Source): string {
  if (state === 'none') return 'Before the first record. It has no public status.';
  if (state === 'running') return 'What both states of a turn accept. Its public status is `running`.';
  return `Its public status is ${code(STATUS_OF_STATE[state])}.`;
}

function guardsOf(transitions: readonly ChartTransition[]): readonly string[] {
  return [...new Set(transitions.flatMap(({ guards }) => guards))].toSorted();
}

function worded(guard: string): string {
  return `${wordsOf(guard)} (${code(guard)})`;
}

function wordsOf(guard: string): string {
  const words = GUARD_WORDS.get(guard);
  if (words === undefined) throw new Error(`the guard ${guard} has no words in the chart's document`);
  return words;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

function code(text: string): string {
  return `\`${text}\``;
}

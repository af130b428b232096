/**
 * One step of the session chart: where a record leads it. Dry runs, live sessions and replays step here and nowhere else.
 *
 *   S1. Which transition a record takes is XState's to say, by the chart's own states and guards.
 *   S2. Taking it is done here. XState's own step is made for all that a chart can have, and most of its time goes into what
 *       this one has nothing of: it has no action but `evolve`, at most one target, and nothing that happens on entry or exit.
 *   S3. XState's own step leads every record to the same state and the same facts.
 */
import type { ActorLogic, SnapshotFrom } from 'xstate';
import { leafOf } from './chart-outline.ts';
import type { NewRecord } from './records.ts';
import { CHART_STATES, type ChartState } from './projections/status.ts';
import { sessionChart } from './session-chart.ts';
import { contextAfter, NO_SESSION, type SessionContext } from './session-context.ts';

export type SessionSnapshot = SnapshotFrom<typeof sessionChart>;

interface Place {
  readonly state: ChartState;
  /** What every snapshot of the state is copied from. A copy of a copy would cost ten times as much. */
  readonly snapshot: SessionSnapshot;
}

const PLACES: readonly Place[] = CHART_STATES.map((state) => ({
  state,
  snapshot: sessionChart.resolveState({ value: valueOf(state), context: NO_SESSION }),
}));
const BY_STATE: ReadonlyMap<string, Place> = new Map(PLACES.map((place) => [place.state, place]));
/** By what a snapshot has as its value, which all snapshots of a state share. */
const BY_VALUE: ReadonlyMap<unknown, Place> = new Map(PLACES.map((place) => [place.snapshot.value, place]));
const BY_NODE: ReadonlyMap<unknown, Place> = new Map(
  PLACES.map((place) => [sessionChart.getStateNodeById(`${sessionChart.id}.${place.state}`), place]),
);

/** The chart's state in its own words: `running.cancelling`. */
export function stateOf({ value }: SessionSnapshot): ChartState {
  return known(BY_VALUE.get(value)).state;
}

/** Throws for a state that the chart does not have: it may come from outside of the types. */
export function snapshotIn(state: ChartState, context: SessionContext): SessionSnapshot {
  return { ...known(BY_STATE.get(state)).snapshot, context };
}

export const SNAPSHOT_OF_NO_SESSION: SessionSnapshot = snapshotIn('none', NO_SESSION);

/** The chart one record further on; the snapshot itself where the chart does not accept the record. Throws what a guard throws. */
export function stepOf(snapshot: SessionSnapshot, record: NewRecord): SessionSnapshot {
  const transition = sessionChart.getTransitionData(snapshot, record)[0];
  if (transition === undefined) return snapshot;
  const target = transition.target?.[0];
  const place = target === undefined ? BY_VALUE.get(snapshot.value) : BY_NODE.get(leafOf(target));
  return { ...known(place).snapshot, context: contextAfter(snapshot.context, record) };
}

/** The chart as an actor runs it. */
export const sessionLogic: ActorLogic<SessionSnapshot, NewRecord> = {
  transition: stepOf,
  getInitialSnapshot: () => SNAPSHOT_OF_NO_SESSION,
  getPersistedSnapshot: (snapshot) => snapshot,
};

function known(place: Place | undefined): Place {
  if (place === undefined) throw new Error('the session chart has no such state');
  return place;
}

/** A state as XState writes it. */
function valueOf(state: ChartState): string | Record<string, string> {
  const [outer = '', inner] = state.split('.');
  return inner === undefined ? outer : { [outer]: inner };
}

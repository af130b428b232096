/** What a person may ask of a session, by the state that it is in. The server decides; a button that must fail is not offered. */
export interface Actions {
  readonly mayInterrupt: boolean;
  readonly mayResume: boolean;
  readonly mayEnd: boolean;
  readonly maySend: boolean;
}

/** `state`: null where it is not known yet, or nothing can be asked for. */
export function actionsIn(state: string | null): Actions {
  const isAtRest = state === 'idle' || state === 'suspended';
  return {
    mayInterrupt: state === 'running.working',
    mayResume: state === 'interrupted' || state === 'failed',
    mayEnd: state !== null && state !== 'ending' && state !== 'ended',
    maySend: isAtRest,
  };
}

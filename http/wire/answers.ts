/** The answers of `/v1`, as types for whoever reads them and as renderings of what the services say. */
import type { JsonObject, Message } from '../../machines/messages.ts';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import type { SessionStatus } from '../../machines/projections/status.ts';
import type { AfterStop, Metadata, ResolvedModel, Retain, Sequence, SessionRecord } from '../../machines/records.ts';
import type { CredentialView } from '../../services/credentials.ts';
import type { DamagedSessionView, SessionView, TurnAnswer, TurnReceipt } from '../../services/session-service.ts';
import { utcTime } from '../../services/tools/utc-time.ts';

export interface ErrorAnswer {
  readonly error: {
    readonly code: string;
    readonly message: string;
    /** Whether the very same request can succeed later. */
    readonly retryable: boolean;
    readonly details?: JsonObject;
  };
}

export interface SessionAnswer {
  readonly session_id: string;
  readonly status: SessionStatus;
  readonly resident: boolean;
  readonly last_sequence: Sequence;
  readonly created_at: string;
  readonly updated_at: string;
  readonly agentloop: { readonly name: string; readonly configuration: JsonObject };
  readonly model: { readonly provider: string; readonly name: string; readonly credential?: string };
  readonly system?: string;
  /** Names, as a create takes them; what each stands for is in the session's first event. */
  readonly tools: readonly string[];
  readonly environments: readonly string[];
  readonly after_stop: AfterStop;
  readonly idle_ttl_ms: Retain;
  readonly metadata: Metadata;
}

/** A session whose journal cannot be read: all that is known is that it is there, and why it is not shown. */
export interface DamagedSessionAnswer {
  readonly session_id: string;
  readonly damaged: true;
  readonly explanation: string;
}

export interface SessionListAnswer {
  readonly sessions: readonly (SessionAnswer | DamagedSessionAnswer)[];
  readonly next_cursor: string | null;
}

export interface CancelAnswer {
  readonly status: 'cancel_requested';
}

export interface EventPageAnswer {
  readonly events: readonly PublicEvent[];
  readonly next_cursor: Sequence;
}

export interface JournalPageAnswer {
  readonly records: readonly SessionRecord[];
  readonly next_cursor: Sequence;
}

export interface TranscriptAnswer {
  readonly messages: readonly Message[];
  readonly through_sequence: Sequence;
}

export type { TurnAnswer, TurnReceipt };

export function sessionAnswer(session: SessionView): SessionAnswer {
  return {
    session_id: session.session_id,
    status: session.status,
    resident: session.resident,
    last_sequence: session.last_sequence,
    created_at: utcTime(session.created_at),
    updated_at: utcTime(session.updated_at),
    agentloop: session.agentloop,
    model: modelAnswer(session.model),
    ...(session.system === undefined ? {} : { system: session.system }),
    tools: session.tools.map((tool) => tool.name),
    environments: session.environments,
    after_stop: session.after_stop,
    idle_ttl_ms: session.retain,
    metadata: session.metadata,
  };
}

/** As a create takes it. Where a provider is reached is the deployment's affair. */
function modelAnswer({ provider, name, credential }: ResolvedModel): SessionAnswer['model'] {
  return credential === undefined ? { provider, name } : { provider, name, credential };
}

export interface CredentialListAnswer {
  readonly credentials: readonly { readonly name: string; readonly updated_at: string }[];
}

export function credentialListAnswer(credentials: readonly CredentialView[]): CredentialListAnswer {
  return { credentials: credentials.map(({ name, updated_at }) => ({ name, updated_at: utcTime(updated_at) })) };
}

export function listedSessionAnswer(session: SessionView | DamagedSessionView): SessionAnswer | DamagedSessionAnswer {
  if ('damaged' in session) return { session_id: session.session_id, damaged: true, explanation: session.message };
  return sessionAnswer(session);
}

/** The words in which sessions are asked for and spoken of. What goes over the wire is declared where the server does. */
import type { DamagedSessionAnswer, SessionAnswer, SessionListAnswer, TranscriptAnswer, TurnAnswer, TurnReceipt } from '../http/wire/answers.ts';
import type { LifecycleSessionAnswer, LifecycleSessionListAnswer, QueueAnswer } from '../http/wire/lifecycle-answers.ts';
import type { CreateLifecycleSessionBody } from '../http/wire/lifecycle-requests.ts';
import type { CreateSessionBody } from '../http/wire/requests.ts';
import type { Environment } from './environments.ts';
import type { Tool } from './tool.ts';

export type {
  CreateLifecycleSessionBody,
  DamagedSessionAnswer,
  LifecycleSessionAnswer,
  LifecycleSessionListAnswer,
  QueueAnswer,
  SessionAnswer,
  SessionListAnswer,
  TranscriptAnswer,
  TurnAnswer,
  TurnReceipt,
};

export interface ContentBlockText {
  readonly type: 'text';
  readonly text: string;
}

export interface ContentBlockLinked {
  readonly type: 'image' | 'file';
  readonly url: string;
  readonly media_type: string;
}

/** What is said to the agent. */
export type Input = string | readonly (ContentBlockText | ContentBlockLinked)[];

/** What a session is made of. All of it may be left out. */
export interface CreateSession {
  readonly agentloop?: NonNullable<CreateSessionBody['agentloop']>;
  readonly model?: NonNullable<CreateSessionBody['model']>;
  readonly system?: string;
  /** By their names, where they are declared already; else as they are to be declared. */
  readonly environments?: readonly (string | Environment)[];
  /** By their names, or as they run in this process. Left out: all of the environments. */
  readonly tools?: readonly (string | Tool)[];
  readonly transcript?: readonly object[];
  /** How long it stays in memory after its work. 0: as long as the server runs. null: it is released at once. */
  readonly idleTtlMs?: number | null;
  readonly afterStop?: 'idle' | 'hold';
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Names to set, and with null to take away. */
export type MetadataChanges = Readonly<Record<string, string | null>>;

export interface ListSessions {
  readonly after?: string;
  readonly limit?: number;
  readonly status?: SessionAnswer['status'];
  readonly metadata?: Readonly<Record<string, string>>;
}

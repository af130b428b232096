/**
 * The journal port: one session's append-only history, in frames. It knows bytes, sequences and durability; a payload
 * is opaque to it.
 *
 * What no adapter may bend:
 *   J1. One commit is one frame: all of its records are there after a crash, or none.
 *   J2. `append` resolves when the frame is durable, its file's and directories' entries included, and not before.
 *   J3. Frames are contiguous: the first sequence of one is the last of the one before it plus one, from 1 on.
 *   J4. Shown means flushed: `read` and `lastSequence` never pass the last acknowledged frame, and what a process finds
 *       when it first opens a journal is flushed before it is shown.
 *   J5. A failed append poisons the journal: its outcome is unknown, nothing more is acknowledged, and nothing is read
 *       until the journal has been cut back to its last acknowledged byte and that cut is durable. Until then every
 *       call answers `journal_unavailable`.
 *   J6. Only an incomplete final write is ever cut off. Anything else that does not read back as it was written is
 *       `journal_corrupt`, with file and offset.
 *   J7. One holder at a time: a second `open` of a held journal is a bug of the caller and throws.
 */

/**
 * One commit: the payload of `recordCount` records, the first of which has the sequence `firstSequence`. A payload is text
 * without a zero byte, as JSON is: a run of zeros on the disk then shows what was never written.
 */
export interface Frame {
  readonly firstSequence: number;
  readonly recordCount: number;
  readonly payload: Uint8Array;
}

/** Names a frame for good: its last record's sequence and the checksum of its payload. */
export interface FrameMark {
  readonly sequence: number;
  readonly checksum: number;
}

/** A frame as it is read: with its checksum, and the bytes that it takes in the journal, header included. */
export interface StoredFrame extends Frame {
  readonly checksum: number;
  readonly bytes: number;
}

export interface ReadableJournal {
  /** The sequence of the last acknowledged record; 0 in a journal without any. */
  readonly lastSequence: number;

  /**
   * The acknowledged frames from the one that holds the sequence `after + 1` on, oldest first, up to the end as it is
   * when each frame is asked for. Frames before it are not read: a segment is found by its name, a frame by the headers.
   */
  read(after: number): AsyncIterable<StoredFrame>;
}

export interface Journal extends ReadableJournal {
  readonly sessionId: string;
  /** The last acknowledged frame; null in a journal without any. */
  readonly lastFrame: FrameMark | null;
  /** The bytes of all acknowledged frames, headers included. */
  readonly bytes: number;

  /** Commits one frame. Rejects with `journal_unavailable` or `disk_full`: then the outcome is unknown (J5). */
  append(frame: Frame): Promise<FrameMark>;

  /** The checksum of the frame whose last record has this sequence; null where no frame ends there. */
  checksumAt(sequence: number): Promise<number | null>;

  /** Gives the journal up: nothing is written any more when this resolves, and the session can be opened again, or removed. */
  release(): Promise<void>;
}

/** What a data directory holds of sessions. Ids are 32 lower-case hex digits; any other is a bug of the caller. */
export interface SessionStore {
  /** The ids of all sessions on the disk, ascending. */
  list(): Promise<readonly string[]>;

  /** The highest id that a session which was removed had; the empty text where none was. */
  highestRemovedId(): Promise<string>;

  /**
   * A new session's journal, without any frame yet. Nothing of it counts before its first append: after a crash a
   * session without a whole first frame never was.
   */
  create(sessionId: string): Promise<Journal>;

  /**
   * Opens a session's journal, which is held until it is released. The first open by this process cuts off an incomplete final write (kept beside as
   * `.broken`, and logged) and flushes what it found. Rejects with `session_not_found`, `journal_corrupt` or
   * `journal_unavailable`.
   */
  open(sessionId: string): Promise<Journal>;

  /**
   * The payload of a session's first frame, as it lies there, where that reads back whole; null where it does not. It tells
   * whose a session is that cannot be opened. Nothing is claimed, cut or flushed for it.
   */
  firstPayload(sessionId: string): Promise<Uint8Array | null>;

  /** Takes a session away, whole, in one durable step. Its journal must not be held. */
  remove(sessionId: string): Promise<void>;

  /** The bytes of a session's checkpoint file, whose checksum held; null where it is missing or damaged. */
  readCheckpoint(sessionId: string): Promise<Uint8Array | null>;
  /** Replaces the checkpoint in one step. It is disposable: a failure is logged and answered with false. */
  writeCheckpoint(sessionId: string, payload: Uint8Array): Promise<boolean>;

  /** Replaces a session's sealed file, its copy of what it may not lose: durable when it resolves. It goes with the session. */
  writeSealed(sessionId: string, sealed: Uint8Array): Promise<void>;
  /** Null where there is none. */
  readSealed(sessionId: string): Promise<Uint8Array | null>;

  /** Gives up the data directory, and its lock. */
  close(): Promise<void>;
}

export type StorageErrorCode =
  | 'session_not_found'
  | 'journal_corrupt'
  | 'journal_unavailable'
  | 'disk_full'
  | 'data_directory_locked'
  | 'data_directory_unusable';

/** The one error class of this layer. `file` is relative to the data directory. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;
  readonly file: string | undefined;
  readonly offset: number | undefined;

  constructor(
    code: StorageErrorCode,
    message: string,
    evidence: { readonly file?: string; readonly offset?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: evidence.cause });
    this.code = code;
    this.file = evidence.file;
    this.offset = evidence.offset;
  }
}

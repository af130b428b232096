/**
 * What each error code means, in words: when it comes, and what its receiver does about it. `docs/errors.md` and the
 * OpenAPI document say exactly this.
 */
import type { ErrorCode } from './wire/answers.ts';

export interface ErrorWords {
  readonly when: string;
  readonly advice: string;
}

export const ERROR_WORDS: Readonly<Record<ErrorCode, ErrorWords>> = {
  invalid_request: {
    when: 'The body or the query is not what the route takes: a field is unknown, missing or out of bounds, or the text is not JSON in well-formed UTF-8. Also 408 where a request did not come in time, 417 for an unknown `Expect`.',
    advice: 'Correct what `details.field` points at.',
  },
  invalid_cursor: {
    when: "`after` or `Last-Event-ID` is no position: a sequence for events and journals, an event's id for the events of `/sessions`, a session's id for the list.",
    advice: 'Give a cursor as an answer gave it, or none to begin at the start.',
  },
  reserved_type: {
    when: "An extension's event is named like one of Brain's own.",
    advice: 'Name it with a dot and a prefix of your own, such as `shop.order_placed`.',
  },
  unauthorized: {
    when: 'No token was sent, or one that is not valid, was revoked or has expired.',
    advice: 'Send `Authorization: Bearer TOKEN`.',
  },
  forbidden: {
    when: 'The token may not do this: its scope is too narrow, or it is of one session and this is about none. Or a create on `/sessions` names a tool that the tenant may not use or that does not exist. On a server without `BRAIN_API_KEY`: the `Host`, or the `Origin` of a change, is not this machine.',
    advice: 'Use a token of a wider scope; name a tool that is offered; call the server as `localhost` or `127.0.0.1`.',
  },
  not_found: {
    when: 'There is no such path, or no such session, credential or environment of this tenant.',
    advice: 'Check the path, the id and the name.',
  },
  method_not_allowed: {
    when: 'The path is known, with other methods.',
    advice: 'Use one that `Allow` lists.',
  },
  session_busy: {
    when: 'A turn is running or a message is waiting, or the session is being created or cancelled; or a delete comes while another one tears environments down.',
    advice: "Wait for the turn's end in the events, then send again. A delete: for the teardown's end.",
  },
  session_ending: {
    when: "The session's end was asked for: it takes no more messages.",
    advice: 'Create another session.',
  },
  session_ended: {
    when: 'The session has ended. Its history stays readable.',
    advice: 'Create another session.',
  },
  must_resume: {
    when: 'A turn was stopped and the session holds until it is resumed.',
    advice: '`POST …/resume`, which needs a token that may manage.',
  },
  not_resumable: {
    when: 'The session is neither interrupted nor failed, or can never run again.',
    advice: 'Look at its `status`.',
  },
  must_end: {
    when: 'A session is deleted that has neither ended nor failed; also while its end is under way.',
    advice: '`POST …/end` first, and wait until the session has ended. One whose creation failed is deleted as it is.',
  },
  already_started: {
    when: 'The message is not waiting any more: its turn has started, and may be over.',
    advice: 'Interrupt the turn, if it still runs.',
  },
  conflict: {
    when: 'A message of this session was sent with the same `key` and another text. Or, to a host: another process took its name.',
    advice: "A new message needs a new key. A host's process that lost its name has nothing more to do.",
  },
  already_closed: {
    when: 'The operation is over: its result was reported before, it was cancelled, its time was up, or the server was started again since.',
    advice: 'Drop the answer: nothing waits for it, and it is not recorded.',
  },
  idempotency_in_progress: {
    when: 'The request that this `Idempotency-Key` was first sent with is still under way.',
    advice: 'Send the same again when the turn or the end is over: it gets the first answer.',
  },
  idempotency_ambiguous: {
    when: 'The server stopped before the first request with this key was answered. It may have taken effect, and is not carried out again. `details` says where to look.',
    advice: 'Look at the session; then take a new key, or not.',
  },
  too_large: {
    when: 'The body is over `BRAIN_MAX_BODY_BYTES`, as sent or once decompressed. With status 431 the headers are.',
    advice: 'Send less.',
  },
  unsupported_media_type: {
    when: 'The body is not `application/json` in UTF-8, or compressed in a way that is not understood.',
    advice: 'Send `Content-Type: application/json`; compress with gzip, deflate, br or nothing.',
  },
  unknown_harness: {
    when: 'A create on `/sessions` names a harness that this server does not have.',
    advice: 'Name one that it has; `chat` and `pi` are always there.',
  },
  unknown_agentloop: {
    when: 'A create on `/v1/sessions` names an agent loop that this server does not have.',
    advice: 'Name one that it has; `chat` and `pi` are always there.',
  },
  unknown_provider: {
    when: 'A create on `/v1/sessions` names a model whose provider is unknown or not configured. On `/sessions` it is `invalid_request`.',
    advice: 'Name `demo`, or configure the provider.',
  },
  unknown_tool: {
    when: 'A create on `/v1/sessions` names a tool that does not exist, or that the tenant may not use.',
    advice: 'Name one that is offered.',
  },
  unknown_environment: {
    when: 'A create names an environment that is not declared.',
    advice: 'Declare it first, or leave it out.',
  },
  unknown_credential: {
    when: 'A create names a credential that is not stored.',
    advice: 'Store it first, or leave it out.',
  },
  idempotency_mismatch: {
    when: 'This `Idempotency-Key` was used with another body.',
    advice: 'A new request needs a new key.',
  },
  queue_full: {
    when: 'As many messages wait as may.',
    advice: "Wait for a turn's end, then send again.",
  },
  internal: {
    when: 'A fault of the server. What happened is in its log. Whether the request took effect is not known.',
    advice: 'Look at the session before sending again.',
  },
  journal_corrupt: {
    when: "The session's journal does not read back as it was written: `details` says in which `file`, relative to the data directory, and at which `offset`. Other sessions are not concerned. A file under `claims/` holds the keys of a tenant's creates and deletes: only these are refused, and only with a key.",
    advice: 'Restore the file from a backup.',
  },
  environment_failed: {
    when: 'A create whose environments could not all be set up: the message names each of them and its reason. The session stays, `failed`; `details.session_id` names it.',
    advice: 'Look at what the environment says; create another session. Delete this one, which needs no end: its teardown is not done by itself.',
  },
  teardown_failed: {
    when: 'A delete whose environments could not all be torn down: the message names each of them and its reason. The session and its records stay.',
    advice: 'Delete again, under a new `Idempotency-Key` or none: it tears down once more what may be left. Nothing does so by itself.',
  },
  draining: {
    when: 'The server is shutting down and takes no new work. Reads, streams and cancels go on.',
    advice: 'Send again, to another instance or after the restart.',
  },
  journal_unavailable: {
    when: "The disk failed under the session's journal, and what is acknowledged is being secured before anything is read.",
    advice: "Send again after a moment; look at the server's disk if it stays.",
  },
  disk_full: {
    when: 'There was no room on the disk for a record: of this request, or of the turn that it waited for. It is cut back before anything is read again.',
    advice: "Make room on the server's disk, then send again.",
  },
};

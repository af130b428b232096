/**
 * Deliberate faults: each changes the text of one module as it is loaded, where a passage that stands there exactly once is
 * put another way. The shipped code has no switch for any of them.
 */

export interface Change {
  /** From the project's root on. */
  readonly file: string;
  readonly search: string;
  readonly replace: string;
}

export interface Mutation {
  readonly name: string;
  /** The invariants that may be the first to be found broken. */
  readonly breaks: readonly number[];
  readonly changes: readonly Change[];
}

/** No fault: bounds so small that short histories reach what only long ones reach otherwise. */
const SMALL_BOUNDS: readonly Change[] = [
  { file: 'storage/segment.ts', search: 'SEGMENT_BYTES_MAX = 4 * 1024 * 1024', replace: 'SEGMENT_BYTES_MAX = 5 * 1024' },
  { file: 'storage/journals-at-rest.ts', search: 'JOURNALS_AT_REST_MAX = 256', replace: 'JOURNALS_AT_REST_MAX = 2' },
  { file: 'services/session-loader.ts', search: 'CHECKPOINT_JOURNAL_BYTES_MIN = 64 * 1024', replace: 'CHECKPOINT_JOURNAL_BYTES_MIN = 1024' },
  { file: 'services/event-topic.ts', search: 'TAIL_BYTES_MAX = 256 * 1024', replace: 'TAIL_BYTES_MAX = 2 * 1024' },
  { file: 'services/history.ts', search: 'STEP_BYTES_MAX = 64 * 1024', replace: 'STEP_BYTES_MAX = 1024' },
  { file: 'services/loop-host.ts', search: 'EVENTS_PAGE_BYTES = 1024 * 1024', replace: 'EVENTS_PAGE_BYTES = 2 * 1024' },
];

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'open-again-while-closing',
    breaks: [11, 13],
    changes: [{ file: 'services/session-registry.ts', search: "if (this.#isClosed) throw new ServiceError('draining', 'the server is shutting down');", replace: 'void ServiceError;' }],
  },
  {
    name: 'stay-held-after-a-failed-delete',
    breaks: [11],
    changes: [{ file: 'services/session-files.ts', search: '    try {\n      await work(journal);\n    } finally {\n      await journal?.release();\n    }', replace: '    await work(journal);' }],
  },
  {
    name: 'cut-before-rewriting',
    breaks: [1],
    changes: [{ file: 'storage/settled-file.ts', search: 'await cutTo(file, validBytes);\n  const last', replace: 'await cutTo(file, frames.at(-1)?.offset ?? validBytes);\n  const last' }],
  },
  {
    name: 'let-time-go-back',
    breaks: [1],
    changes: [{ file: 'services/session-actor.ts', search: 'Math.max(this.#clock.now(), this.state.lastSequence === 0 ? 0 : this.state.facts.recorded_at)', replace: 'this.#clock.now()' }],
  },
  {
    name: 'dispatch-before-the-flush',
    breaks: [2],
    changes: [
      { file: 'services/model-calls.ts', search: 'const receipt = await this.#start(request);', replace: 'const starting = this.#start(request); const early = this.#send(0, request); const receipt = await starting;' },
      { file: 'services/model-calls.ts', search: 'await this.#send(started.sequence, request)', replace: 'await early' },
    ],
  },
  {
    name: 'call-a-model-again',
    breaks: [3],
    changes: [
      {
        file: 'services/model-calls.ts',
        search: 'return this.#end(started.sequence, await this.#send(started.sequence, request));',
        replace: "let outcome = await this.#send(started.sequence, request); if (outcome.outcome === 'unknown') outcome = await this.#send(started.sequence, request); return this.#end(started.sequence, outcome);",
      },
    ],
  },
  {
    name: 'call-a-tool-again',
    breaks: [3],
    changes: [
      {
        file: 'services/tool-calls.ts',
        search: '    const end = await this.#endOf(invocation, effect, deadline);\n',
        replace: "    let end = await this.#endOf(invocation, effect, deadline); if (end.result.outcome === 'error') end = await this.#endOf(executor.invoke({ input, sequence, deadlineMs, listener }), effect, deadline);\n",
      },
    ],
  },
  {
    name: 'close-an-effect-twice',
    breaks: [4],
    changes: [
      { file: 'machines/session-context.ts', search: 'return closing(context, record.data.started_sequence);', replace: 'return record.type.startsWith("activation") ? { ...context, open: [] } : context;' },
    ],
  },
  {
    name: 'leave-out-the-dry-run',
    breaks: [4, 7, 11, 13],
    changes: [{ file: 'machines/dry-run.ts', search: 'if (!hasTaken(after, record)) throw new RefusedByChart(stateOf(snapshot), record);', replace: '' }],
  },
  {
    name: 'call-the-unknown-cancelled',
    breaks: [5],
    changes: [{ file: 'machines/close-turn.ts', search: '/** Closes every open effect but the activation, oldest first. */\nexport function closeOpenEffects(draft: Draft, outcome: OpenOutcome): void {', replace: 'export function closeOpenEffects(draft: Draft, asked: OpenOutcome): void {\n  void asked;\n  const outcome: OpenOutcome = "cancelled";' }],
  },
  {
    name: 'leave-out-recovery',
    breaks: [5, 7],
    changes: [{ file: 'services/session-recovery.ts', search: 'const decided = recover(state.snapshot);', replace: 'const decided = recover(state.snapshot).slice(0, 0);' }],
  },
  {
    name: 'lose-messages-in-a-checkpoint',
    breaks: [6, 14],
    changes: [{ file: 'machines/projections/transcript.ts', search: 'for (const message of snapshot.messages) transcript.#messages.push(deepFreeze(message));', replace: '' }],
  },
  {
    name: 'swallow-a-record',
    breaks: [8, 13],
    changes: [{ file: 'services/event-feed.ts', search: 'topic.keep(records, payloadBytes);', replace: 'topic.keep(records.length > 1 ? records.slice(0, -1) : records, payloadBytes);' }],
  },
  {
    name: 'wake-one-follower-only',
    breaks: [8, 13],
    changes: [{ file: 'services/event-topic.ts', search: 'for (const watcher of this.watchers) watcher.changed();', replace: 'for (const watcher of [...this.watchers].slice(0, 1)) watcher.changed();' }],
  },
  {
    name: 'begin-a-page-where-the-last-one-ended',
    breaks: [8],
    changes: [{ file: 'machines/projections/lifecycle-events.ts', search: 'event.index > index', replace: 'event.index >= index' }],
  },
  {
    name: 'forget-keys',
    breaks: [9],
    changes: [{ file: 'machines/projections/keyed-requests.ts', search: 'if (record.request !== undefined) this.#learn(record, record.request);', replace: '' }],
  },
  {
    name: 'carry-out-before-the-claim',
    breaks: [9],
    changes: [{ file: 'services/claims.ts', search: "await this.#append(tenant, { kind: 'claimed', name, body, session_id });", replace: "void this.#append(tenant, { kind: 'claimed', name, body, session_id }).catch(() => undefined);" }],
  },
  {
    name: 'share-a-key-between-sessions',
    breaks: [9, 11, 13],
    changes: [{ file: 'services/claims.ts', search: "return `${route} ${scope ?? ''} ${key}`;", replace: "return `${route} ${scope === null ? '' : 'any'} ${key}`;" }],
  },
  {
    name: 'answer-a-repeat-as-of-now',
    breaks: [9],
    changes: [{ file: 'services/repeats.ts', search: "    case 'change_metadata':\n      return viewAt(journal, isRecord(first.sequence), isResident);", replace: "    case 'change_metadata':\n      return viewAt(journal, isRecord(journal.lastSequence), isResident);" }],
  },
  {
    name: 'forget-the-keys-of-messages',
    breaks: [9],
    changes: [{ file: 'machines/replay.ts', search: 'messageKeys: MessageKeys.from(saved.message_keys)', replace: 'messageKeys: new MessageKeys()' }],
  },
  {
    name: 'drop-a-message',
    breaks: [10, 11],
    changes: [{ file: 'machines/decide.ts', search: "if (free) draft.add('turn_started', { message_sequence });", replace: '' }],
  },
  {
    name: 'leave-the-next-message-waiting',
    breaks: [10, 11, 13],
    changes: [{ file: 'machines/close-turn.ts', search: "if (next !== null) draft.add('turn_started', { message_sequence: next });", replace: '' }],
  },
  {
    name: 'start-out-of-order',
    breaks: [10],
    changes: [
      { file: 'machines/close-turn.ts', search: 'const next = draft.context.queue[0] ?? null;', replace: 'const next = draft.context.queue.at(-1) ?? null;' },
      { file: 'machines/chart-setup.ts', search: 'event.data.next === (context.queue[0] ?? null)', replace: 'event.data.next === (context.queue.at(-1) ?? null)' },
      { file: 'machines/chart-setup.ts', search: 'context.queue[0] === event.data.message_sequence', replace: 'context.queue.includes(event.data.message_sequence)' },
      { file: 'machines/session-context.ts', search: 'context.queue = context.queue.slice(1);', replace: 'context.queue = context.queue.filter((one) => one !== record.data.message_sequence);' },
    ],
  },
  {
    name: 'let-any-number-wait',
    breaks: [10],
    changes: [{ file: 'machines/decide.ts', search: "if (!free && draft.context.queue.length >= rules.queueMessagesMax) return 'queue_full';", replace: '' }],
  },
  {
    name: 'let-damage-end-a-list',
    breaks: [11],
    changes: [{ file: 'services/session-list.ts', search: "if (answer.code === 'journal_corrupt') return { session_id: sessionId, damaged: true, message: answer.message };", replace: '' }],
  },
  {
    name: 'grant-any-number-of-slots',
    breaks: [11],
    changes: [{ file: 'services/turn-slots.ts', search: 'this.#free -= 1;', replace: '' }],
  },
  {
    name: 'reopen-without-the-cut',
    breaks: [1, 11, 12],
    changes: [{ file: 'storage/file-session-store.ts', search: 'await cutBackJournal(this.directory, sessionId, wounded);', replace: '' }],
  },
  {
    name: 'acknowledge-before-the-flush',
    breaks: [2, 12],
    changes: [
      { file: 'storage/file-journal.ts', search: "'create-through'", replace: "'create'" },
      { file: 'storage/journal-repair.ts', search: "'write-through');\n  try {\n    const size", replace: "'write');\n  try {\n    const size" },
    ],
  },
  {
    name: 'open-without-flushing',
    breaks: [1, 12],
    changes: [{ file: 'storage/settled-file.ts', search: 'await writeWhole(file, bytes.subarray(inDoubt, validBytes), inDoubt);\n  await file.sync();', replace: 'void writeWhole; void inDoubt; void bytes;' }],
  },
  {
    name: 'believe-the-cache-after-a-failed-flush',
    breaks: [1, 5, 11, 12],
    changes: [{ file: 'storage/settled-file.ts', search: 'await writeWhole(file, bytes.subarray(inDoubt, validBytes), inDoubt);\n  await file.sync();', replace: 'void writeWhole; void inDoubt; void bytes; await file.sync();' }],
  },
  {
    name: 'read-past-the-acknowledged-end',
    breaks: [1, 11, 12],
    changes: [{ file: 'storage/file-journal.ts', search: 'await tail.append(bytes, offset);\n', replace: 'const appending = tail.append(bytes, offset);\n    this.#end = { ...this.#end, segmentBytes: offset + bytes.length, lastFrame: mark };\n    await appending;\n' }],
  },
  {
    name: 'show-before-the-flush',
    breaks: [2, 8, 12],
    changes: [
      { file: 'services/session-actor.ts', search: 'await this.#journal.append({', replace: 'const appending = this.#journal.append({' },
      { file: 'services/session-actor.ts', search: 'this.#reactions.committed(committed, payload.length);', replace: 'this.#reactions.committed(committed, payload.length);\n    await appending;' },
    ],
  },
  {
    name: 'leave-a-cancel-out',
    breaks: [5, 13],
    changes: [{ file: 'machines/decide.ts', search: "if (draft.accepts('turn_cancel_requested', record)) draft.add('turn_cancel_requested', record);", replace: 'void record;' }],
  },
  {
    name: 'leave-an-end-out',
    breaks: [13],
    changes: [{ file: 'machines/close-turn.ts', search: "if (end) endSession(draft, { detaches: openOutcome === 'cancelled', closedTurn: message_sequence });", replace: '' }],
  },
  {
    name: 'delete-without-the-flush',
    breaks: [13],
    changes: [{ file: 'storage/file-session-store.ts', search: 'await this.directory.settleMove(session, moved);', replace: 'void moved;' }],
  },
  {
    name: 'carry-out-a-refused-delete',
    breaks: [1],
    changes: [
      {
        file: 'services/session-entry.ts',
        search: "if (asked.kind !== 'committed') return { receipt: asked, removed: null };",
        // One with environments would be found by what it leaves of them.
        replace:
          "const { facts, context } = actor.state;\n      const isBare = Object.keys(context.environments).length === 0;\n      if (asked.kind !== 'committed') return { receipt: asked, removed: isBare ? this.#close((journal) => this.#files.remove(facts.created.tenant, journal)) : null };",
      },
    ],
  },
  {
    name: 'answer-a-close-before-it-is-recorded',
    breaks: [13],
    changes: [{ file: 'services/sessions.ts', search: "await this.#keyed(tenant, sessionId, { kind: 'end', mode: 'interrupt' }", replace: "void this.#keyed(tenant, sessionId, { kind: 'end', mode: 'interrupt' }" }],
  },
  {
    name: 'leave-a-withdrawal-out',
    breaks: [13],
    changes: [{ file: 'machines/decide.ts', search: "draft.add('message_withdrawn', withdrawn);", replace: '' }],
  },
  {
    name: 'keep-a-slot',
    // A turn that waits for ever has nothing open: it is told from one at rest by the next recovery, which closes it.
    breaks: [5, 11, 13],
    changes: [{ file: 'services/turn-runner.ts', search: '      scope.over();\n      slot.giveBack();', replace: '      scope.over();' }],
  },
  {
    name: 'show-a-loop-what-was-dropped',
    breaks: [14],
    changes: [{ file: 'services/loop-host.ts', search: 'dropped.has(record.sequence) ? null : publicEventOf(record)', replace: 'publicEventOf(record)' }],
  },
  {
    name: 'resume-where-the-turn-stopped',
    breaks: [6, 14],
    changes: [{ file: 'machines/projections/transcript.ts', search: 'this.#messages.length = this.#kept;\n        this.#messages.push(...this.#tail);', replace: '' }],
  },
  {
    name: 'resolve-a-model-anew',
    breaks: [15],
    changes: [{ file: 'services/model-calls.ts', search: '      model: created.model,\n', replace: '      model: this.#models.resolve(created.model) ?? created.model,\n' }],
  },
  {
    name: 'offer-every-tool',
    breaks: [15],
    changes: [{ file: 'services/model-calls.ts', search: 'tools === undefined ? created.tools : toolsNamed(created.tools, tools)', replace: 'tools === undefined ? created.tools : created.tools' }],
  },
  {
    name: 'drop-the-parameters',
    breaks: [15],
    changes: [{ file: 'services/model-calls.ts', search: '      ...(parameters === undefined ? {} : { parameters }),\n    };\n  }\n\n  async #end', replace: '    };\n  }\n\n  async #end' }],
  },
  {
    name: 'tell-another-process-of-a-host-again',
    breaks: [3],
    changes: [{ file: 'services/environments/host.ts', search: "if (command.isWritten) void command.settle({ type: 'unknown', message });", replace: 'void [command, message];' }],
  },
  {
    name: 'post-again-what-was-lost',
    breaks: [3],
    changes: [
      {
        file: 'services/environments/http-driver.ts',
        search: 'const outcome = await this.#send(operation, { signal: this.#giveUp.signal, onSent });',
        replace: "let outcome = await this.#send(operation, { signal: this.#giveUp.signal, onSent }); if (outcome.kind === 'lost') outcome = await this.#send(operation, { signal: this.#giveUp.signal, onSent });",
      },
    ],
  },
  {
    name: 'send-before-the-record',
    breaks: [2],
    changes: [
      {
        file: 'services/session-actor.ts',
        search: '    const payload = payloadOf(encoded);\n    await this.#journal.append',
        replace: "    const payload = payloadOf(encoded);\n    const early = decodeRecords(payload).filter(({ type }) => type === 'environment_detach_started' || type === 'environment_teardown_started');\n    if (early.length > 0) this.#reactions.committed(early, 0);\n    await this.#journal.append",
      },
    ],
  },
  {
    name: 'detach-before-the-end-is-recorded',
    breaks: [2, 16],
    changes: [
      {
        file: 'services/environments/environment-work.ts',
        search: "        case 'session_end_requested':\n",
        replace: "        case 'session_end_requested':\n          for (const name of Object.keys(actor.state.context.environments)) this.#start(sessionId, actor, { sequence: record.sequence + 1, data: { environment: name, request: { type: 'detach' } } });\n",
      },
    ],
  },
  {
    name: 'set-up-again-after-a-restart',
    breaks: [3, 5, 16],
    changes: [
      {
        file: 'services/session-entry.ts',
        search: '    this.#resident = { actor, release: this.#files.hold() };\n',
        replace:
          "    this.#resident = { actor, release: this.#files.hold() };\n    for (const [environment, { standing, operation }] of Object.entries(state.context.environments)) {\n      const again = { type: 'environment_setup_started', sequence: operation, recorded_at: 0, state: '', data: { environment, request: { type: 'setup', configuration: {} } } } as const;\n      if (standing === 'unknown') this.#services.environmentWork.committed(this.sessionId, actor, [again]);\n    }\n",
      },
    ],
  },
  {
    name: 'remove-what-was-not-torn-down',
    breaks: [16],
    changes: [{ file: 'machines/recover.ts', search: "return isDeleteRequested && Object.values(context.environments).every(({ standing }) => standing === 'absent');", replace: 'return isDeleteRequested && context !== null;' }],
  },
  {
    name: 'record-a-late-answer',
    breaks: [4],
    changes: [{ file: 'services/tool-calls.ts', search: 'whenStopped.then((): End =>', replace: 'whenStopped.then(() => invocation.answer).then((): End =>' }],
  },
  {
    name: 'take-a-report-of-what-is-over',
    breaks: [12],
    changes: [
      { file: 'services/environments/callbacks.ts', search: 'if (this.#waiting.get(key) === waiting) this.#waiting.delete(key);', replace: '' },
      { file: 'services/environments/callbacks.ts', search: "keep('late');", replace: "keep('recorded');" },
    ],
  },
  {
    name: 'be-ready-without-an-environment',
    breaks: [16],
    changes: [
      { file: 'machines/decide.ts', search: "if (missing.length === 0) draft.add('session_ready', {});", replace: "if (missing.length === 0 || !endAsked) draft.add('session_ready', {});" },
      { file: 'machines/chart-setup.ts', search: "every(({ standing }) => standing === 'attached')", replace: 'every(() => true)' },
    ],
  },
  {
    name: 'take-a-report-before-it-is-recorded',
    breaks: [12],
    changes: [{ file: 'services/environments/callbacks.ts', search: 'const kept = await settle(receipt);', replace: "void settle(receipt);\n    const kept = 'recorded';" }],
  },
  {
    name: 'take-a-hosts-result-before-it-is-recorded',
    breaks: [12],
    changes: [{ file: 'services/environments/hosts.ts', search: 'const kept = await command.settle(receipt);', replace: "void command.settle(receipt);\n    const kept = 'recorded';" }],
  },
  {
    name: 'leave-out-what-a-tool-is-configured-with',
    breaks: [15],
    changes: [{ file: 'services/environments/environment-tool.ts', search: '...(configuration === undefined ? {} : { configuration })', replace: '...(configuration === undefined ? { configuration } : {})' }],
  },
];

/** The changes of a variant: the small bounds, and the mutation of that name, if there is one. */
function changesOf(variant: string): readonly Change[] {
  const mutation = MUTATIONS.find(({ name }) => name === variant);
  if (mutation === undefined && variant !== 'small') throw new Error(`there is no variant ${variant}`);
  return [...SMALL_BOUNDS, ...(mutation?.changes ?? [])];
}

/** The text of a module in a variant. */
export function changed(text: string, file: string, variant: string): string {
  let result = text;
  for (const { search, replace } of changesOf(variant).filter((change) => change.file === file)) {
    const count = result.split(search).length - 1;
    if (count !== 1) throw new Error(`${file} has this ${count} times, and not once: ${search}`);
    result = result.replace(search, () => replace);
  }
  return result;
}

/** One host of this process: the commands that it is given, and the link that brings them and takes their answers. */
import { HostCommands } from './host-commands.ts';
import { HostLink, type HostLinkParts } from './host-link.ts';
import type { OperationVoice } from './host-operation.ts';
import type { HostOperation, HostReceipt } from './host-wire.ts';

export interface HostTieParts extends Pick<HostLinkParts, 'host' | 'transport' | 'register' | 'token'> {
  readonly carryOut: (operation: HostOperation, voice: OperationVoice) => Promise<HostReceipt>;
  /** The link is over and nobody asked for that, or something was refused. */
  readonly onError: (error: Error) => void;
}

export interface HostTie {
  readonly link: HostLink;
  readonly commands: HostCommands;
}

export function tieHost({ carryOut, onError, ...linkParts }: HostTieParts): HostTie {
  const commands = new HostCommands({
    carryOut: (operation, signal) => carryOut(operation, voiceOf(link, operation, signal)),
    report: (name, receipt) => link.report(name, receipt),
  });
  const link = new HostLink({
    ...linkParts,
    hear: (news) => commands.hear(news),
    onEnd(error) {
      commands.abandon(error);
      onError(error);
    },
    onRefusal: onError,
  });
  return { link, commands };
}

function voiceOf(link: HostLink, { session_id, sequence }: HostOperation, signal: AbortSignal): OperationVoice {
  const name = { session_id, sequence };
  return {
    signal,
    emit(type, data) {
      const emitted = link.emit(name, type, data);
      // It is the tool's to hear that it was refused. One that does not listen is not ended by it.
      emitted.catch(() => undefined);
      return emitted;
    },
    progress: (progress) => link.progress(name, progress),
  };
}

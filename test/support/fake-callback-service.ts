/** Callbacks that a test scripts: one token opens each of them, and every report is taken, unless the test says otherwise. */
import type { CallbackService, OperationName } from '../../services/environments/callbacks.ts';

export const CALLBACK_TOKEN = 'the-token-of-every-callback';

export interface Reported {
  readonly kind: 'result' | 'emit' | 'progress';
  readonly name: OperationName;
  readonly body: unknown;
}

export class FakeCallbackService implements CallbackService {
  readonly reported: Reported[] = [];
  /** Called for each report. What it throws is the answer. */
  script: (report: Reported) => void = () => undefined;

  isToken(_name: OperationName, token: string): boolean {
    return token === CALLBACK_TOKEN;
  }

  result(name: OperationName, receipt: unknown): Promise<void> {
    return this.#take({ kind: 'result', name, body: receipt });
  }

  emit(name: OperationName, type: string, data: unknown): Promise<void> {
    return this.#take({ kind: 'emit', name, body: { type, data } });
  }

  progress(name: OperationName, progress: unknown): Promise<void> {
    return this.#take({ kind: 'progress', name, body: progress });
  }

  async #take(report: Reported): Promise<void> {
    this.reported.push(report);
    this.script(report);
  }
}

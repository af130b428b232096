/**
 * A signal that is made when somebody asks for it: most of what is told to stop is over by then, or never listens. What it
 * aborts with is made once, too, as an error costs its stack.
 */
import { setMaxListeners } from 'node:events';

const STOPPED = new DOMException('this is to stop', 'AbortError');

export class StopSignal {
  #controller: AbortController | null = null;
  #isStopped = false;

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get signal(): AbortSignal {
    this.#controller ??= controllerForMany();
    if (this.#isStopped) this.#controller.abort(STOPPED);
    return this.#controller.signal;
  }

  stop(): void {
    this.#isStopped = true;
    this.#controller?.abort(STOPPED);
  }
}

/** A turn's calls listen to one signal, and as many as may be under way: Node takes the eleventh for a leak. */
function controllerForMany(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

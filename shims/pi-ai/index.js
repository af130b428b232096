/**
 * Stands in the place of `@mariozechner/pi-ai`, which would bring the libraries of five model vendors. pi's loop gets the
 * model's answers and the tools from its caller; these are the names that it imports besides.
 */

/** For forms of the loop that Brain does not use. */
export class EventStream {
  constructor() {
    throw new Error('only runAgentLoop is there');
  }
}

/** pi has no way to a model of its own: each call of one is recorded by whoever runs the loop. */
export function streamSimple() {
  throw new Error('a model is called through the given stream function only');
}

/** The arguments as the model gave them. A tool checks them itself, whichever loop it is called by. */
export function validateToolArguments(_tool, call) {
  return call.arguments;
}

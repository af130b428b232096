/** The tools that run in the terminal's own process. They look, and change nothing. */
import { tool, type Tool } from '../../client/index.ts';

export function chatTools(now: () => Date): readonly Tool[] {
  return [
    tool({
      name: 'clock',
      description: "The time on the user's own machine.",
      input: { type: 'object', properties: {}, additionalProperties: false },
      effect: 'read',
      run: () => now().toISOString(),
    }),
    tool({
      name: 'slow_clock',
      description: "The time on the user's own machine, after so many seconds.",
      input: { type: 'object', properties: { seconds: { type: 'number', minimum: 0, maximum: 600 } }, required: ['seconds'], additionalProperties: false },
      effect: 'read',
      run: async (input, { signal }) => {
        const { seconds } = input as { readonly seconds: number };
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, seconds * 1_000);
          const stop = (): void => {
            clearTimeout(timer);
            resolve();
          };
          signal.addEventListener('abort', stop, { once: true });
        });
        return now().toISOString();
      },
    }),
  ];
}

/** The simulation with the project's modules in a variant: loaded anew, with that variant's changes. */
import type * as Simulation from './simulate.ts';

export async function variant(name: string): Promise<typeof Simulation> {
  return (await import(/* @vite-ignore */ `./simulate.ts?variant=${name}`)) as typeof Simulation;
}

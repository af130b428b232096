/** Computes the chart's layout while the page is built, for `import { layout } from 'virtual:chart-layout'`. */
import ELK from 'elkjs/lib/elk.bundled.js';
import type { Plugin } from 'vite';
import { chartGraph } from './chart-graph.ts';
import { layOut } from './lay-out.ts';

const ID = 'virtual:chart-layout';
// Vite takes what begins with a NUL for a module of nobody else.
const RESOLVED_ID = `\0${ID}`;

export function chartLayoutPlugin(): Plugin {
  return {
    name: 'chart-layout',
    resolveId: (id) => (id === ID ? RESOLVED_ID : null),
    load: async (id) => (id === RESOLVED_ID ? `export const layout = ${JSON.stringify(await layOut(new ELK.default(), chartGraph()))};` : null),
  };
}

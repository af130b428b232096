import { describe, expect, it } from 'vitest';
import { forbiddenImports, importCycles, importsOf } from './imports.ts';
import { printed, projectSources, sampleSources } from './program.ts';

describe('the project', () => {
  const sources = projectSources();

  it('imports from one layer to the next below only, and the pure layers import next to nothing', () => {
    expect(importsOf(sources).length).toBeGreaterThan(0);
    expect(printed(forbiddenImports(sources))).toEqual([]);
  });

  it('has no ring of files that need one another to load', () => {
    expect(importCycles(sources)).toEqual([]);
  });
});

describe('the check of imports', () => {
  it('sees an import against the direction, however it is written', () => {
    const sources = sampleSources({
      'machines/a.ts': `import { Journal } from '../storage/journal.ts';`,
      'machines/b.ts': `export type { Journal } from '../storage/journal.ts';`,
      'machines/c.ts': `export type Held = import('../services/ports.ts').Clock;`,
      'storage/d.ts': `export const chart = () => import('../machines/session-chart.ts');`,
      'storage/e.ts': `import 'xstate';`,
      'services/f.ts': `import type { Route } from '../http/app.ts';`,
      'http/g.ts': `export * from '../storage/journal.ts';`,
      'client/h.ts': `import { schema } from '../http/wire/schema.ts';`,
      'services/i.ts': `import { start } from '../cli/start.ts';`,
      'http/j.ts': `import { sample } from '../test/support/sample.ts';`,
      'http/k.ts': `import { App } from './inspector/ui/app.tsx';`,
      'http/inspector/ui/l.tsx': `import type { Route } from '../../route-table.ts';`,
      'http/inspector/data/m.ts': `import { Journal } from '../../../storage/journal.ts';`,
    });

    expect(printed(forbiddenImports(sources)).toSorted()).toEqual([
      'client/h.ts:1 client imports http',
      'http/g.ts:1 http imports storage',
      'http/inspector/data/m.ts:1 http/inspector imports storage',
      'http/inspector/ui/l.tsx:1 http/inspector imports http',
      'http/j.ts:1 http imports test/support/sample.ts',
      'http/k.ts:1 http imports http/inspector',
      'machines/a.ts:1 machines imports storage',
      'machines/b.ts:1 machines imports storage',
      'machines/c.ts:1 machines imports services',
      'services/f.ts:1 services imports http',
      'services/i.ts:1 services imports cli',
      'storage/d.ts:1 storage imports machines',
      'storage/e.ts:1 storage imports xstate',
    ]);
  });

  it('sees Node where there is none, and a module of Node by half its name', () => {
    const sources = sampleSources({
      'machines/a.ts': `import { createHash } from 'node:crypto';`,
      'storage/b.ts': `import path from 'path';`,
      'client/c.ts': `import type { Agent } from 'node:http'; import { z } from 'zod';`,
    });

    expect(printed(forbiddenImports(sources))).toEqual([
      'machines/a.ts:1 machines imports node:crypto',
      'storage/b.ts:1 path instead of node:path',
      'client/c.ts:1 client imports node:http',
      'client/c.ts:1 client imports zod',
    ]);
  });

  it('lets the layers do what they may', () => {
    const sources = sampleSources({
      'machines/a.ts': `import { setup } from 'xstate'; import { b } from './b.ts';`,
      'services/b.ts': `import { a } from '../machines/a.ts'; import { c } from '../storage/c.ts';`,
      'http/c.ts': `import { b } from '../services/b.ts'; import Koa from 'koa';`,
      'http/inspector/ui/c.tsx': `import { a } from '../../../machines/a.ts'; import { useState } from 'react';`,
      'client/d.ts': `import type { Session } from '../http/wire/session.ts';`,
      'cli/e.ts': `import { c } from '../storage/c.ts'; import { d } from '../http/d.ts';`,
    });

    expect(printed(forbiddenImports(sources))).toEqual([]);
  });

  it('sees a ring through several files, and none where only types go round', () => {
    const ring = sampleSources({
      'services/a.ts': `import { b } from './b.ts'; export const a = b;`,
      'services/b.ts': `import { c } from './c.ts'; export const b = c;`,
      'services/c.ts': `import { type A, a } from './a.ts'; export const c: A = a;`,
    });
    const types = sampleSources({
      'services/a.ts': `import type { B } from './b.ts'; export interface A { b: B }`,
      'services/b.ts': `import { a } from './a.ts'; export type B = typeof a;`,
    });

    expect(importCycles(ring)).toHaveLength(1);
    for (const step of ['a.ts -> services/b.ts', 'b.ts -> services/c.ts', 'c.ts -> services/a.ts']) {
      expect(importCycles(ring)[0]).toContain(step);
    }
    expect(importCycles(types)).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { callersOf } from './callers.ts';
import { projectSources, sampleSources } from './program.ts';

/**
 * A schedule that breaks an invariant needs a way round these: an effect that is sent without its fence, a record that was
 * not decided, a reaction to what is not durable. Each has the one place that keeps the order; another needs a reason.
 */
const SOLE_CALLERS: Readonly<Record<string, readonly string[]>> = {
  // Effects leave Brain here, each after its start is durable and nobody has stopped its turn.
  'ModelProvider.call': ['services/model-calls.ts'],
  'ToolExecutor.invoke': ['services/tool-calls.ts'],
  'Tool.run': ['services/tools/own-tool.ts'],
  'EnvironmentDriver.send': ['services/environments/environment-operation.ts', 'services/environments/environment-tool.ts'],
  'AgentLoop.turn': ['services/turn-runner.ts'],
  // Records are committed as they were decided on the chart: a command's, and those that close what was left open.
  // The benchmark writes journals that no server has.
  'Journal.append': ['bench/journal-writer.ts', 'services/session-actor.ts', 'services/session-recovery.ts'],
  // Whoever hears of a commit hears of it after it is durable and evolved: while it happens, and when it is recovered.
  'Catalog.set': ['services/session-entry.ts', 'services/session-files.ts'],
  'EventFeed.committed': ['services/session-entry.ts', 'services/session-files.ts'],
  'Turns.committed': ['services/session-entry.ts'],
  // A session goes away after its delete was recorded, or where it never was one.
  'SessionStore.remove': ['services/session-files.ts', 'services/session-registry.ts'],
  // Files are opened by those who count who uses them, and recover before they let anybody read.
  'SessionStore.open': ['services/session-files.ts'],
  'SessionStore.create': ['services/session-files.ts'],
};

describe('the project', () => {
  it('has one place for each thing that must come after another', () => {
    expect(callersOf(projectSources(), Object.keys(SOLE_CALLERS))).toEqual(SOLE_CALLERS);
  });
});

describe('the check of callers', () => {
  const PORT = `export interface Tool { run(input: string): void }
    export class Feed { committed(): void {} }`;

  it('sees a call by whatever name its object has, a method that is taken out of it, and one that is handed on', () => {
    const sources = sampleSources({
      'services/port.ts': PORT,
      'services/a.ts': `import type { Tool } from './port.ts'; export const a = (other: Tool) => other.run('x');`,
      'services/b.ts': `import type { Tool } from './port.ts'; export const b = ({ run }: Tool) => run('x');`,
      'services/c.ts': `import type { Tool } from './port.ts'; export const c = (tool: Tool) => tool.run;`,
      'services/d.ts': `import type { Tool } from './port.ts'; export const d = (tool?: Tool) => tool?.run('x');`,
      'services/e.ts': `import type { Feed } from './port.ts'; export const e = ({ committed: told }: Feed) => told();`,
    });

    expect(callersOf(sources, ['Tool.run', 'Feed.committed'])).toEqual({
      'Tool.run': ['services/a.ts', 'services/b.ts', 'services/c.ts', 'services/d.ts'],
      'Feed.committed': ['services/e.ts'],
    });
  });

  it('takes no other object’s method for it', () => {
    const sources = sampleSources({
      'services/port.ts': PORT,
      'services/a.ts': `export const a = (job: { run(input: string): void }) => job.run('x');`,
      'services/b.ts': `export class Loop { run(): void {} } export const b = (loop: Loop) => loop.run();`,
    });

    expect(callersOf(sources, ['Tool.run'])).toEqual({ 'Tool.run': [] });
  });
});

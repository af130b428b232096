import { describe, expect, it } from 'vitest';
import { loopRegistry } from '../../../../services/loops/loop-registry.ts';

describe('the loops of this server', () => {
  it.each(['chat', 'pi'])('have %s, with a check of its configuration', (name) => {
    const registered = loopRegistry.find(name);

    expect(registered?.loop.name).toBe(name);
    expect(registered?.configurationProblem({ x: 1 })).not.toBeNull();
  });

  it('are no others', () => {
    expect(loopRegistry.find('other')).toBeNull();
    expect(loopRegistry.find('constructor')).toBeNull();
  });
});

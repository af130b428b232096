import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Catalog, type CatalogRow } from '../../../services/catalog.ts';

const row = (tenant: string): CatalogRow => ({ tenant, state: 'idle', last_sequence: 2, created_at: 1, updated_at: 1, metadata: {}, checkpoint: null, recorded_at: 1, turn: null, queue_length: 0 });
const anyId = fc.integer({ min: 0, max: 40 }).map((number) => number.toString(16).padStart(32, '0'));

describe('the catalog', () => {
  it('L-119: gives the ids after any text in ascending order, whatever was set and removed before, and meanwhile', () => {
    const anyStep = fc.record({ id: anyId, remove: fc.boolean() });
    fc.assert(
      fc.property(fc.uniqueArray(anyId), fc.array(anyStep), anyId, fc.array(anyStep), (found, before, after, meanwhile) => {
        const catalog = new Catalog(found.toSorted());
        const model = new Set(found);
        const take = ({ id, remove }: { id: string; remove: boolean }): void => {
          if (remove) catalog.remove(id);
          else catalog.set(id, row('acme'));
          if (remove) model.delete(id);
          else model.add(id);
        };
        before.forEach(take);
        expect([...catalog.idsAfter(after)]).toEqual([...model].filter((id) => id > after).toSorted());
        for (const id of model) expect(catalog.has(id)).toBe(true);

        const told: string[] = [];
        const steps = [...meanwhile];
        for (const id of catalog.idsAfter('')) {
          told.push(id);
          const step = steps.shift();
          if (step !== undefined) take(step);
        }
        expect(told).toEqual([...new Set(told)].toSorted());
        const untouched = [...model].filter((id) => !meanwhile.some((step) => step.id === id));
        expect(told).toEqual(expect.arrayContaining(untouched));
      }),
    );
  });

  it('S-014: says nothing of a session that has to be looked at again, but whose it is', () => {
    const catalog = new Catalog([]);
    catalog.set('a', row('acme'));
    catalog.forgetRow('a');

    expect([catalog.row('a'), catalog.has('a'), catalog.ownerOf('a')]).toEqual([null, true, 'acme']);
    catalog.remove('a');
    expect([catalog.has('a'), catalog.ownerOf('a')]).toEqual([false, null]);
  });
});

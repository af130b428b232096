import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHART_DOCUMENT_PATH, chartDocument } from '../../cli/charts/chart-document.ts';
import { chartTransitions } from '../../machines/chart-outline.ts';
import { PROJECT_ROOT } from './program.ts';

describe('the document of the session chart', () => {
  it('is what `npm run charts` makes of the charts as they are now', () => {
    expect(readFileSync(path.join(PROJECT_ROOT, CHART_DOCUMENT_PATH), 'utf8')).toBe(chartDocument());
  });

  it('shows every transition that changes the state as an arrow, and every other in a table', () => {
    const lines = chartDocument().split('\n');
    const changing = chartTransitions().filter(({ target }) => target !== null);

    expect(lines.filter((line) => line.includes(' --> '))).toHaveLength(changing.length);
    expect(lines.filter((line) => line.endsWith('| stays |'))).toHaveLength(chartTransitions().length - changing.length);
  });
});

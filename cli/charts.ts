/** `npm run charts`: writes the session chart's document anew. */
import { writeFileSync } from 'node:fs';
import { CHART_DOCUMENT_PATH, chartDocument } from './charts/chart-document.ts';

writeFileSync(CHART_DOCUMENT_PATH, chartDocument());

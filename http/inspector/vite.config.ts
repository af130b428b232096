/** The page as files beside the server's own: no path to anything but itself, and the charts of `machines/` as they are. */
import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { chartLayoutPlugin } from './chart/layout-plugin.ts';

export default defineConfig({
  root: import.meta.dirname,
  base: '/inspector/',
  plugins: [react(), chartLayoutPlugin()],
  worker: { format: 'es' },
  build: {
    outDir: path.resolve(import.meta.dirname, '../../dist/inspector'),
    emptyOutDir: true,
    // A small file as a `data:` address would be one more source for the page's policy to allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One file for all of it: it comes from this machine or the next one, once. A test bounds its size.
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});

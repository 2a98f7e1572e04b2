// The configuration of Vite for the build of the console and for `npm run dev`.
import { dirname, join } from 'node:path';
import react from '@vitejs/plugin-react';

const root = dirname(import.meta.dirname);

export const consoleConfig = {
  configFile: false,
  logLevel: 'warn',
  root: join(root, 'console'),
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: join(root, 'dist', 'console-app'),
    emptyOutDir: true,
    // Every asset is a separate file: the content security policy of the page allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
};

// Serves the console from its sources and pushes changes to open pages; everything else comes from the server.
import { dirname } from 'node:path';
import { createServer } from 'vite';
import { readArguments } from '../src/arguments.mjs';
import { consoleConfig } from './console-config.mjs';

const {
  positionals: [port, target],
} = readArguments({
  usage: 'usage: node tools/serve-console.mjs PORT TARGET\n\nServes the console for npm run dev, until its input ends.',
  positionals: [2, 2],
});
const server = await createServer({
  ...consoleConfig,
  server: {
    port: Number(port),
    strictPort: true,
    // Shared code of console and server is in the folder beside it.
    fs: { allow: [dirname(import.meta.dirname)] },
    proxy: { '^/(?!console(/|$))': target },
  },
});
await server.listen();
process.stdin.once('end', () => process.exit()).resume();

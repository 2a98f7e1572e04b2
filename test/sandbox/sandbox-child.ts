// Runs a sandbox operator as a process of its own, so that a test can kill it: configuration in, address out.
import type { SandboxConfig } from '../../src/sandbox/sandbox-config.ts';
import { startSandbox } from '../../src/sandbox/start-sandbox.ts';

const sandbox = await startSandbox(JSON.parse(process.argv[2] ?? '') as SandboxConfig);
process.stdout.write(`${sandbox.url}\n`);

// Entry: downloads a version of the Temporal CLI into a folder by the SDK, then ends. Its parent ends a slow download.
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { exitWithParent } from '../process/parent-link.ts';

const [downloadDir = '', version = ''] = process.argv.slice(2);
// The SDK gives each default its own user; a fixed version needs none, and an existing file is never too old.
const ttl = '3650 days';

exitWithParent();
try {
  const executable = { type: 'cached-download', version, downloadDir, ttl } as const;
  const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
  await environment.teardown();
} catch (error) {
  process.stderr.write(`${textOf(error)}\n`);
  process.exitCode = 1;
}

/** The error in one line, with its causes. */
function textOf(error: unknown): string {
  const parts: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) parts.push(cause.message);
  return (parts.length === 0 ? String(error) : parts.join(': ')).replace(/\s+/g, ' ');
}

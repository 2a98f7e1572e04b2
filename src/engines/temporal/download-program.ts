// Entry: has the Temporal SDK download the CLI of a version into a folder, and ends. Its parent ends it when that takes too long.
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { exitWithParent } from '../process/parent-link.ts';

const [downloadDir = '', version = ''] = process.argv.slice(2);
// The SDK names a user of its own for each default; a fixed version needs none, and what is there is never too old.
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

/** In one line, with the causes. */
function textOf(error: unknown): string {
  const parts: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) parts.push(cause.message);
  return (parts.length === 0 ? String(error) : parts.join(': ')).replace(/\s+/g, ' ');
}

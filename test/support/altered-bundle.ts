// The present workflows with a change, as a release before or after this one may have them.
import assert from 'node:assert/strict';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { workflowBundle } from './engines.ts';

/** The present workflows with one passage replaced. Fails unless the passage is there exactly once. */
export async function alteredBundle(passage: string, replacement: string): Promise<WorkflowBundleWithSourceMap> {
  const bundle = await workflowBundle();
  assert.equal(bundle.code.split(passage).length, 2, `the bundle holds once: ${passage}`);
  return { ...bundle, code: bundle.code.replace(passage, () => replacement) };
}

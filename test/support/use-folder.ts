// Folders for the cases of a `describe`, removed after each.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useFixturePerCase } from './use-fixture.ts';

/** An empty folder for each case of the surrounding `describe`. */
export function useFolderPerCase(): { readonly folder: string } {
  return useFixturePerCase(
    async () => ({ folder: await mkdtemp(join(tmpdir(), 'malipo-test-')) }),
    ({ folder }) => rm(folder, { recursive: true, force: true }),
  );
}

// Databases for the cases of a `describe`: each is created and dropped by hooks.
import type { Database } from '../../src/db/platform/database.ts';
import type { MerchantId } from '../../src/domain/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/engines.ts';
import { useFixture, useFixturePerCase } from '../support/use-fixture.ts';
import { makeMerchant } from './rows.ts';

/** One database for all cases of the surrounding `describe`. */
export function useDatabase(): Database & { readonly url: string } {
  return useFixture(openDatabase, ({ drop }) => drop());
}

/** A new database for each case of the surrounding `describe`. */
export function useDatabasePerCase(): Database {
  return useFixturePerCase(openDatabase, ({ drop }) => drop());
}

async function openDatabase(): Promise<Database & Pick<TestDatabase, 'url' | 'drop'>> {
  const { db, url, drop } = await createTestDatabase();
  return { ...db, url, drop };
}

/** A new merchant for each case of the surrounding `describe`. */
export function useMerchantPerCase(db: Database): { readonly id: MerchantId } {
  return useFixturePerCase(async () => ({ id: await makeMerchant(db) }));
}

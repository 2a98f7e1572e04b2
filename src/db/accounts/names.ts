// Names of people and API keys, for the records of other nouns that hold their ids.
import type { KnownPerson } from '../../domain/accounts/member.ts';
import type { ApiKeyId, MerchantId, UserId } from '../../domain/ids.ts';
import { statement, type Queryable } from '../platform/database.ts';
import { listUsers } from './user.ts';

/** SQL of `{ id, name, email }` of a row of `users`, or null if an outer join found none. */
export function personColumn(alias: string): string {
  return `CASE WHEN ${alias}.id IS NOT NULL
    THEN json_build_object('id', ${alias}.id, 'name', ${alias}.name, 'email', ${alias}.email) END`;
}

/** SQL of `{ id, name }` of a row of `api_keys`, or null if an outer join found none. */
export function keyColumn(alias: string): string {
  return `CASE WHEN ${alias}.id IS NOT NULL THEN json_build_object('id', ${alias}.id, 'name', ${alias}.name) END`;
}

export type KnownKey = { readonly id: ApiKeyId; readonly name: string | null };

export type Names = {
  readonly person: (id: UserId) => KnownPerson;
  readonly key: (id: ApiKeyId) => KnownKey;
};

const LIST_KEYS = statement('api_key_names')`SELECT id, name FROM api_keys WHERE merchant_id = $1 AND id = ANY($2)`;

/** An unattested account has neither name nor e-mail here: people base their decisions on both. */
export async function findNames(
  db: Queryable,
  merchantId: MerchantId,
  people: readonly (UserId | null)[],
  keys: readonly (ApiKeyId | null)[],
): Promise<Names> {
  const named = present(people);
  const users = named.length === 0 ? [] : await listUsers(db, named);
  const wanted = present(keys);
  const rows = wanted.length === 0 ? [] : await db.run<KnownKey>(LIST_KEYS, [merchantId, wanted]);
  const userById = new Map(users.map((user) => [user.id, user]));
  const nameById = new Map(rows.map(({ id, name }) => [id, name]));
  return {
    person: (id) => {
      const user = userById.get(id);
      return { id, name: user?.name ?? null, email: user?.email ?? null };
    },
    key: (id) => ({ id, name: nameById.get(id) ?? null }),
  };
}

function present<Id>(ids: readonly (Id | null)[]): Id[] {
  return [...new Set(ids.filter((id) => id !== null))];
}

// Changes an endpoint: where it is, what goes to it, and whether anything does.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { changeEndpoint as changeRow, findEndpointLocked } from '../../db/webhooks/endpoint.ts';
import {
  changedEndpoint,
  endpointNotFound,
  type Endpoint,
  type EndpointSettings,
} from '../../domain/webhooks/endpoint.ts';
import { isId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';

export type ChangeEndpoint = {
  readonly id: string;
  /** A url is checked by the caller against the outbound guard; every attempt checks it again. */
  readonly changes: Partial<EndpointSettings>;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The endpoint as it then is. What is owed to one that is disabled is withheld from now on, and stays so when it is enabled
 * until somebody replays it. Of two changes at once each keeps what the other set. A change to what is there already does
 * nothing. Throws `endpoint_not_found`.
 */
export async function changeEndpoint(db: Database, { id, changes, by, at }: ChangeEndpoint): Promise<Endpoint> {
  return db.withTransaction(async (tx) => {
    const endpoint = isId('whe', id) ? await findEndpointLocked(tx, by.person.merchantId, id) : null;
    if (!endpoint) throw endpointNotFound();
    const changed = changedEndpoint(endpoint, changes, at);
    if (changed === endpoint) return endpoint;
    await changeRow(tx, changed);
    const values = { before: settingsOf(endpoint), after: settingsOf(changed) };
    await recordAct(tx, by, { action: 'endpoint.changed', subjectId: endpoint.id, ...values, at });
    return changed;
  });
}

function settingsOf({ url, description, eventTypes, state }: Endpoint): object {
  return { url, description, event_types: eventTypes, state };
}

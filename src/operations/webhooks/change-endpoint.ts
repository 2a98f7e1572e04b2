// Changes the settings of an endpoint: URL, description, event types, enabled or disabled.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { changeEndpoint as changeRow, findEndpointLocked } from '../../db/webhooks/endpoint.ts';
import { changedEndpoint, type Endpoint, type EndpointSettings } from '../../domain/webhooks/endpoint.ts';
import { isId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';
import { notFound } from '../../domain/errors.ts';

export type ChangeEndpoint = {
  readonly id: string;
  /** The caller checks a new URL against the address guard; every attempt checks it again. */
  readonly changes: Partial<EndpointSettings>;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * Returns the endpoint after the change. Deliveries owed to a disabled endpoint are withheld from now on, and stay withheld
 * when it is enabled until somebody replays them. Two concurrent changes each keep the settings that the other changed.
 * Setting the current values changes nothing. Throws `endpoint_not_found`.
 */
export async function changeEndpoint(db: Database, { id, changes, by, at }: ChangeEndpoint): Promise<Endpoint> {
  return db.withTransaction(async (tx) => {
    const endpoint = isId('whe', id) ? await findEndpointLocked(tx, by.person.merchantId, id) : null;
    if (!endpoint) throw notFound('endpoint');
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

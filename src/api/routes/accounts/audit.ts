// The audit log: who did what, and who was refused what.
import { listAuditEntries } from '../../../operations/accounts/audit-log.ts';
import { route, routesUnder, type RouteDeps } from '../../route.ts';
import { auditEntryObject, auditListSchema, listAuditSchema } from '../../schemas/accounts/audit.ts';
import { onePage, pageObject, rangeOf } from '../../schemas/page.ts';
import { definedFields } from '../../validation.ts';

export const auditRoutes = routesUnder<RouteDeps>('Console audit', '/v1/console/audit', [
  route('GET', {
    operationId: 'listAuditEntries',
    summary: 'List acts and refusals, newest first',
    access: 'session',
    ...onePage(listAuditSchema, auditListSchema),
    handle: async ({ merchantId, query }, deps) => {
      const { limit, subject_id: subjectId, actor_id: actorId, action, outcome } = query;
      const filter = { ...rangeOf(query), ...definedFields({ subjectId, actorId, action, outcome }) };
      return { body: pageObject(await listAuditEntries(deps.db, merchantId, filter, limit), auditEntryObject) };
    },
  }),
]);

// The audit log: who did what, and who was refused what.
import { listAuditEntries } from '../../../queries/accounts/audit.ts';
import { consoleRoute } from '../../console-route.ts';
import { sessionOf, type ApiDeps } from '../../context.ts';
import type { Route } from '../../route.ts';
import { auditEntryObject, auditListSchema, listAuditSchema } from '../../schemas/accounts/audit.ts';
import { PAGE_CODES, pageObject } from '../../schemas/page.ts';
import { validate } from '../../validation.ts';

export function auditRoutes(deps: ApiDeps): Route[] {
  return [
    consoleRoute(
      deps,
      {
        method: 'get',
        path: '/v1/console/audit',
        operationId: 'listAuditEntries',
        tag: 'audit',
        summary: 'List what was done and refused, newest first',
        query: listAuditSchema,
        answer: { status: 200, description: 'One page.', schema: auditListSchema },
        errors: ['parameter_invalid', 'cursor_invalid'],
      },
      async (ctx) => {
        const { limit, cursor } = validate(listAuditSchema, { ...ctx.query }, PAGE_CODES);
        const page = await listAuditEntries(deps.db, sessionOf(ctx).person.merchantId, cursor ?? null, limit);
        ctx.body = pageObject(page, auditEntryObject);
      },
    ),
  ];
}

// Decisions of people on one proposed change, of a member or of the policy: approval, rejection, withdrawal.
import type { Database } from '../../../db/platform/database.ts';
import type { ActedBy } from '../../../domain/accounts/member.ts';
import { withdrawProposal } from '../../../operations/accounts/decide-proposal.ts';
import { route, type DeclaredRoute, type RouteDeps } from '../../route.ts';
import { oneObject, type RouteDescription } from '../../route-description.ts';

type Decision = {
  readonly id: string;
  readonly decision: 'approved' | 'rejected';
  readonly by: ActedBy;
  readonly at: Date;
};

type ChangeOptions = {
  readonly kind: 'member_change' | 'policy_change';
  readonly idPrefix: 'mch' | 'pch';
  /** Of the proposals, below the root of the list that has the routes. */
  readonly path: string;
  /** In the ids of the operations. */
  readonly noun: string;
  readonly schema: NonNullable<RouteDescription['response']['schema']>;
  /** Decides, and returns the decided proposal as JSON. */
  readonly decide: (db: Database, decision: Decision) => Promise<object>;
  /** What is changed, and who may approve or reject the change. */
  readonly texts: Readonly<Record<'changed' | 'approve' | 'reject', string>>;
};

export function changeProposalRoutes(
  options: ChangeOptions,
): Readonly<Record<'approve' | 'reject' | 'withdraw', DeclaredRoute<RouteDeps>>> {
  const { kind, idPrefix, path, noun, schema, decide, texts } = options;
  const access = { roles: ['admin'] } as const;
  const decideRoute = (verb: 'approve' | 'reject', decision: Decision['decision']) =>
    route(`POST ${path}/{id}/${verb}`, {
      operationId: `${verb}${noun}`,
      summary: `${verb === 'approve' ? 'Approve' : 'Reject'} a proposed change of ${texts.changed}`,
      description: texts[verb],
      access,
      // Rejecting is never kept from anybody.
      ...(verb === 'approve' && { needsStepUp: true }),
      ...oneObject(idPrefix, 'The decided proposal.', schema),
      errors: ['state_conflict'],
      handle: async ({ id, by }, deps) => ({ body: await decide(deps.db, { id, decision, by, at: new Date() }) }),
    });
  return {
    approve: decideRoute('approve', 'approved'),
    reject: decideRoute('reject', 'rejected'),
    withdraw: route(`DELETE ${path}/{id}`, {
      operationId: `withdraw${noun}`,
      summary: `Withdraw a change of ${texts.changed} that you proposed`,
      access,
      idPrefix,
      response: { status: 204, description: 'Nobody can approve the proposal any more.' },
      errors: ['state_conflict'],
      handle: ({ id, by }, deps) => withdrawProposal(deps.db, { kind, id, by, at: new Date() }),
    }),
  };
}

// The decisions on a waiting payout or refund: who may make which, and how each is sent once.
import { answerOf, api, type Schemas } from '../api/client.ts';
import { withIdempotencyKey } from '../api/idempotency-key.ts';
import { hasRole, useSession, type Session } from '../session/session.ts';
import { useStepUp } from '../session/step-up.tsx';
import { useRefresh } from '../ui/use-act.ts';

type Waiting = {
  readonly approval_state: Schemas['ApprovalState'];
  readonly approvals: readonly { readonly person: { readonly id: string } }[];
};

/** The outcome of a decision for one payout, or why there is none. */
export type Outcome = {
  readonly id: string;
  readonly payout: Schemas['Payout'] | null;
  readonly error: unknown;
};

/** Why this person cannot release it, in plain words; null if they can. The API decides; this avoids a refusal. */
export function whyNotRelease(
  session: Session,
  { approval_state, approvals }: Waiting,
  makerId: string,
): string | null {
  if (approval_state !== 'pending') return 'It no longer waits for a release.';
  if (makerId === session.person.id) return 'You made it, so another person must release it.';
  if (!hasRole(session, 'approver')) return 'Only approvers release.';
  if (approvals.some(({ person }) => person.id === session.person.id))
    return 'You approved it; it waits for another person.';
  return null;
}

/** Asks for the second factor first, sends under one key, and refreshes everything afterwards. */
function useCarryOut() {
  const stepUp = useStepUp();
  const session = useSession();
  const refresh = useRefresh();
  return async <Result>(operationId: string, subject: string, act: (key: string) => Promise<Result>) => {
    await stepUp(operationId);
    try {
      return await withIdempotencyKey(`${session.person.id}:${subject}`, act);
    } finally {
      void refresh();
    }
  };
}

async function releasePayouts(ids: readonly string[], key: string): Promise<Outcome[]> {
  const params = { header: { 'Idempotency-Key': key } };
  const { data } = await answerOf(api.POST('/v1/console/payouts/release', { body: { ids: [...ids] }, params }));
  return data.map(({ error, ...rest }) => ({ ...rest, error: error && new Error(error.message) }));
}

async function outcomeOf(id: string, change: Promise<Schemas['Payout']>): Promise<Outcome> {
  try {
    return { id, payout: await change, error: null };
  } catch (error) {
    return { id, payout: null, error };
  }
}

export function usePayoutDecisions() {
  const carryOut = useCarryOut();
  return {
    release: (ids: readonly string[]) =>
      carryOut('releasePayouts', `release:${[...ids].sort().join()}`, (key) => releasePayouts(ids, key)),
    /** One after the other. A failed rejection does not prevent the next ones. */
    reject: (ids: readonly string[], reason: string) =>
      carryOut('rejectPayout', `reject:${[...ids].sort().join()}`, async () => {
        const outcomes: Outcome[] = [];
        for (const id of ids) {
          const call = api.POST('/v1/console/payouts/{id}/reject', { body: { reason }, params: { path: { id } } });
          outcomes.push(await outcomeOf(id, answerOf(call)));
        }
        return outcomes;
      }),
    cancel: (id: string) =>
      carryOut('cancelPayout', `cancel:${id}`, () =>
        outcomeOf(id, answerOf(api.POST('/v1/console/payouts/{id}/cancel', { params: { path: { id } } }))),
      ),
  };
}

export function useRefundDecisions() {
  const carryOut = useCarryOut();
  return {
    request: (collectionId: string) =>
      carryOut('reverseCollection', `refund:${collectionId}`, (key) =>
        answerOf(
          api.POST('/v1/console/collections/{id}/reversal', {
            params: { path: { id: collectionId }, header: { 'Idempotency-Key': key } },
          }),
        ),
      ),
    release: (id: string) =>
      carryOut('releaseReversal', `release:${id}`, (key) =>
        answerOf(
          api.POST('/v1/console/reversals/{id}/release', {
            params: { path: { id }, header: { 'Idempotency-Key': key } },
          }),
        ),
      ),
    reject: (id: string, reason: string) =>
      carryOut('rejectReversal', `reject:${id}`, () =>
        answerOf(api.POST('/v1/console/reversals/{id}/reject', { body: { reason }, params: { path: { id } } })),
      ),
    cancel: (id: string) =>
      carryOut('cancelReversal', `cancel:${id}`, () =>
        answerOf(api.POST('/v1/console/reversals/{id}/cancel', { params: { path: { id } } })),
      ),
  };
}

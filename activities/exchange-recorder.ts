// Records what follows from an exchange about a collection, and the exchange with it, in the activity that made it.
import type { NewExchange } from '../src/db/payments/operator-exchange.ts';
import { paymentClocks, type Clocks } from '../src/domain/clocks.ts';
import type { CollectionSnapshot, CollectionTransitionInput } from '../src/domain/payments/collection-progress.ts';
import { LIFECYCLES, type PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import { basisOf, needsOperatorStatus, type AttestedStatus } from '../src/domain/payments/operator-status.ts';
import { isFinal, type PaymentRef } from '../src/domain/payments/payment.ts';
import type { SendResult, StatusAttestor } from './attestation.ts';
import { recordExchange, type ExchangeDeps } from './exchanges.ts';
import type { PaymentKinds } from './payment-kinds.ts';

type RecorderDeps = ExchangeDeps & { readonly attestor: StatusAttestor; readonly clocks: Clocks };

type Ref = PaymentRef<'collection'>;

export type ExchangeRecorder = ReturnType<typeof createExchangeRecorder>;

/**
 * Each records the exchange, whatever comes of it. If a transition follows from it without further ado, that is recorded by the same
 * statement, and the collection is returned as it is then; if not, or if it could not be recorded, null: the workflow goes on from there.
 */
export function createExchangeRecorder(deps: RecorderDeps, kinds: PaymentKinds) {
  const { attestor, clocks, log } = deps;

  async function record(
    ref: Ref,
    transition: CollectionTransitionInput | null,
    attested: AttestedStatus,
    made: NewExchange,
  ): Promise<PaymentSnapshot | null> {
    if (transition !== null) {
      try {
        attestor.requireAttested(ref.id, transition, attested);
        const basis = needsOperatorStatus(transition) ? basisOf(attested) : null;
        return await kinds.record(ref, transition, { at: new Date(), basis, exchange: made });
      } catch (error) {
        log.warn(
          { error, id: ref.id },
          'the transition after an exchange was not recorded with the exchange; the workflow records it',
        );
      }
    }
    await recordExchange(deps, ref, made);
    return null;
  }

  return {
    /** The send was accepted or refused. */
    async ofSend(ref: Ref, result: SendResult, made: NewExchange): Promise<SendResult> {
      if (!('attested' in result)) {
        await recordExchange(deps, ref, made);
        return result;
      }
      const { attested } = result;
      const isAccepted = result.kind === 'accepted';
      const transition: CollectionTransitionInput = isAccepted
        ? { kind: 'prompt_accepted' }
        : { kind: 'declined', failureCode: result.failureCode };
      const recorded = await record(ref, transition, attested, made);
      return recorded ? { ...result, recorded } : result;
    },

    /** The status says how the collection ended, if it is prompted. */
    ofStatus(ref: Ref, snapshot: CollectionSnapshot, attested: AttestedStatus, made: NewExchange) {
      return record(ref, outcomeOf(snapshot, attested, clocks), attested, made);
    },
  };
}

/** Null: more than one step follows, or none, or a person must look at it. */
function outcomeOf(
  snapshot: CollectionSnapshot,
  attested: AttestedStatus,
  clocks: Clocks,
): CollectionTransitionInput | null {
  if (isFinal(snapshot.state)) return null;
  const next = LIFECYCLES.collection.next(snapshot, attested, paymentClocks(clocks));
  return next?.kind === 'paid' || next?.kind === 'declined' ? next : null;
}

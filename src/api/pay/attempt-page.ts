// The page of one attempt to pay, whose address only its payer has: the state, the next step, and the receipt.
import { refusalOfAttempt, stageOf, type AttemptRefusal, type Checkout } from '../../domain/payments/checkout.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { OPERATORS, operatorsCollecting } from '../../domain/payments/operator-catalogue.ts';
import { parsePhone } from '../../domain/payments/phone.ts';
import type { AttemptForPayer, CheckoutForPayer } from '../../operations/payments/read-checkouts.ts';
import { approvalsUssd } from './operator-instructions.ts';
import { inLanguage, type Page } from './render.ts';
import type { TextKey } from './texts-en.ts';
import type { Values } from './texts.ts';
import { valuesOf, type PayDeps, type PageContext } from './visit.ts';
import { amountIn, countdown, maskedPhone, timeIn, timeZoneOfPhone } from './words.ts';

/** Seconds until the page loads again while the payer acts on the phone, and while the payer only waits. */
const REFRESH_SECONDS = 5;
const SLOW_REFRESH_SECONDS = 15;

export type AttemptVisit = {
  readonly found: CheckoutForPayer;
  readonly attempt: AttemptForPayer;
  readonly code: string;
  readonly pageContext: PageContext;
  readonly at: Date;
};

/** Whether the page of the attempt has a form for another attempt. */
export function mayTryAgain(deps: PayDeps, { found, attempt, at }: AttemptVisit): boolean {
  return stageOf(attempt.collection) === 'over' && refusalOf(deps, found, at) === null;
}

export function refusalOf(deps: PayDeps, { checkout, earlier }: CheckoutForPayer, at: Date): AttemptRefusal | null {
  const { coverage, clocks } = deps.payments;
  const refusal = refusalOfAttempt(checkout, earlier, at, clocks.secondAttemptWaitMs);
  return refusal ?? (operatorsCollecting(checkout, coverage).length === 0 ? { kind: 'unserved' } : null);
}

/** `nextCode`: the code of the attempt that the page offers; null if it offers none. */
export function statusPage(deps: PayDeps, visit: AttemptVisit, nextCode: string | null): Page {
  const { found, attempt, code, pageContext, at } = visit;
  const { checkout } = found;
  const { collection } = attempt;
  const path = `/pay/${checkout.code}`;
  const status = statusTextOf(deps, visit);
  const isKnown = status.refreshSeconds === null;
  const isReceipted = collection.state === 'succeeded' || collection.state === 'reversed';
  return {
    ...pageContext,
    template: 'status',
    title: status.heading,
    values: { ...valuesOfAttempt(deps, visit), ...status.values },
    here: `${path}/${code}`,
    refreshSeconds: status.refreshSeconds,
    data: {
      ...status,
      ...purchaseOf(checkout, pageContext),
      ...promptTime(collection, status.steps.length > 0, at),
      action: path,
      again: nextCode === null ? null : { attempt: nextCode, previous: code },
      formHref: inLanguage(path, pageContext.chosenLanguage),
      receiptHref: isReceipted ? inLanguage(`${path}/${code}/receipt`, pageContext.chosenLanguage) : null,
      returnUrl: isKnown ? checkout.returnUrl : null,
      isPaid: collection.state === 'succeeded',
    },
  };
}

export function purchaseOf({ reference, description, ...money }: Checkout, { language }: PageContext) {
  return { amount: amountIn(language, money), reference, description };
}

function valuesOfAttempt(deps: PayDeps, { found, attempt: { collection }, pageContext }: AttemptVisit): Values {
  const { phone, operator } = collection;
  const ussd = approvalsUssd(operator, parsePhone(phone)?.country ?? '') ?? '';
  return {
    ...valuesOf(found, pageContext, deps),
    phone: maskedPhone(phone),
    operator: OPERATORS[operator].name,
    ussd,
  };
}

type StatusText = {
  readonly heading: TextKey;
  readonly text: TextKey;
  readonly alert: TextKey | null;
  readonly addition: TextKey | null;
  readonly steps: readonly TextKey[];
  /** Null: the page awaits nothing more. */
  readonly refreshSeconds: number | null;
  readonly values?: Values;
};

const QUIET = { alert: null, addition: null, steps: [], refreshSeconds: null } as const;

function statusTextOf(deps: PayDeps, visit: AttemptVisit): StatusText {
  const { found, attempt } = visit;
  const { collection } = attempt;
  const isOneTime = found.checkout.use === 'one_time';
  const paidTimes = found.earlier.filter((each) => stageOf(each) === 'paid').length;
  switch (stageOf(collection)) {
    case 'live':
      return { ...liveTextOf(deps, visit), alert: isOneTime && paidTimes > 0 ? 'live.paidBefore' : null };
    case 'paid':
      return { ...QUIET, heading: 'paid.title', text: 'paid.text', alert: paidTimes > 1 ? 'paid.twice' : null };
    case 'returned':
      return { ...QUIET, heading: 'returned.title', text: 'returned.text' };
    case 'undecided': {
      const text = isOneTime ? 'undecided.text' : 'failure.unknown';
      return { ...QUIET, heading: 'undecided.title', text, refreshSeconds: SLOW_REFRESH_SECONDS };
    }
    case 'over':
      return overTextOf(deps, visit);
  }
}

function liveTextOf(deps: PayDeps, visit: AttemptVisit): Omit<StatusText, 'alert'> {
  const { state, promptExpiresAt } = visit.attempt.collection;
  const live = { addition: null, steps: [], refreshSeconds: REFRESH_SECONDS } as const;
  if (state === 'initiated') return { ...live, heading: 'starting.title', text: 'starting.text' };
  const isOpen = state === 'prompted' && promptExpiresAt !== null && promptExpiresAt > visit.at;
  if (!isOpen) return { ...live, heading: 'checking.title', text: 'checking.text' };
  const where: TextKey = valuesOfAttempt(deps, visit)['ussd'] === '' ? 'steps.menu' : 'steps.dial';
  const steps: TextKey[] = ['steps.open', 'steps.check', 'steps.pin', where, 'steps.number'];
  return { ...live, heading: 'prompted.title', text: 'prompted.text', steps };
}

function overTextOf(deps: PayDeps, { found, attempt, pageContext, at }: AttemptVisit): StatusText {
  const { failureCode, phone } = attempt.collection;
  const over = { ...QUIET, heading: 'over.title', text: `failure.${failureCode ?? 'unknown'}` } as const;
  const refusal = refusalOf(deps, found, at);
  switch (refusal?.kind) {
    case undefined:
      return over;
    case 'completed':
      return { ...over, addition: 'over.elsewhere' };
    case 'cancelled':
    case 'expired':
      return { ...over, addition: 'over.closed' };
    case 'unserved':
      return { ...over, addition: 'unserved.text' };
    case 'live':
      return { ...over, addition: 'over.busy', refreshSeconds: REFRESH_SECONDS };
    case 'undecided':
      return { ...over, addition: 'doubt.text', refreshSeconds: SLOW_REFRESH_SECONDS };
    case 'waiting': {
      const time = timeIn(pageContext.language, refusal.until, timeZoneOfPhone(phone));
      return { ...over, addition: 'over.waiting', refreshSeconds: SLOW_REFRESH_SECONDS, values: { time } };
    }
  }
}

function promptTime({ promptExpiresAt }: Collection, isShown: boolean, at: Date) {
  if (!isShown || promptExpiresAt === null) return { secondsLeft: null, countdown: null };
  const leftMs = promptExpiresAt.getTime() - at.getTime();
  return { secondsLeft: Math.max(0, Math.ceil(leftMs / 1000)), countdown: countdown(leftMs) };
}

/** Null: an unpaid attempt has no receipt. */
export function receiptPage(deps: PayDeps, visit: AttemptVisit): Page | null {
  const { found, attempt, code, pageContext } = visit;
  const { collection, operatorReceipt, paidAt } = attempt;
  if (paidAt === null) return null;
  const { checkout, merchantName } = found;
  const here = `/pay/${checkout.code}/${code}`;
  return {
    ...pageContext,
    template: 'receipt',
    title: 'receipt.title',
    values: valuesOfAttempt(deps, visit),
    here: `${here}/receipt`,
    data: {
      ...purchaseOf(checkout, pageContext),
      merchant: merchantName,
      paidAt: paidAt.toISOString(),
      paidAtText: timeIn(pageContext.language, paidAt, timeZoneOfPhone(collection.phone)),
      maskedPhone: maskedPhone(collection.phone),
      operatorReceipt,
      collectionId: collection.id,
      isReturned: collection.state === 'reversed',
      statusHref: inLanguage(here, pageContext.chosenLanguage),
      returnUrl: checkout.returnUrl,
    },
  };
}

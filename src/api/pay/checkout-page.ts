// The page at a checkout's address: the form to pay, or why it is closed; and the pages of refusals.
import type { DomainError } from '../../domain/errors.ts';
import type { AttemptRefusal } from '../../domain/payments/checkout.ts';
import { OPERATORS, operatorsIn } from '../../domain/payments/operator-catalogue.ts';
import type { Phone } from '../../domain/payments/phone.ts';
import type { CheckoutForPayer } from '../../operations/payments/read-checkouts.ts';
import { HTTP_STATUS } from '../errors.ts';
import { purchaseOf } from './attempt-page.ts';
import { inLanguage, type Page } from './render.ts';
import type { TextKey } from './texts-en.ts';
import type { Values } from './texts.ts';
import { valuesOf, type PayDeps, type PageContext } from './visit.ts';
import { exampleOf, timeIn, timeZoneOf } from './words.ts';

/** A choice that the payer makes besides the number, because the number does not determine it. */
export type Choice = {
  readonly name: 'country' | 'operator';
  readonly legend: TextKey;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly isRequired: boolean;
};

/** The countries in which the number is valid, each with the complete number. */
export function countryChoice(phones: readonly Phone[], { language }: PageContext): Choice {
  const names = new Intl.DisplayNames([language, 'en'], { type: 'region' });
  const options = phones.map(({ country, digits }) => ({ value: country, label: `${names.of(country)}, +${digits}` }));
  return { name: 'country', legend: 'form.country', options, isRequired: true };
}

/** The values of the text about a former number of these countries. */
export function formerValues(countries: readonly string[], { language }: PageContext): Values {
  const names = new Intl.DisplayNames([language, 'en'], { type: 'region' });
  const list = new Intl.ListFormat([language, 'en'], { type: 'disjunction' });
  return {
    countries: list.format(countries.map((country) => names.of(country) ?? country)),
    // No line breaks within a number.
    examples: list.format(countries.map((country) => exampleOf(country).replaceAll(' ', '\u00a0'))),
  };
}

/** The operators to which a number outside all operators' ranges may have been moved. Null: its country has none. */
export function operatorChoice(
  { payments: { coverage } }: PayDeps,
  { checkout }: CheckoutForPayer,
  { country }: Phone,
): Choice | null {
  const options = operatorsIn(country, checkout, coverage).map((operator) => ({
    value: operator,
    label: OPERATORS[operator].name,
  }));
  return options.length === 0 ? null : { name: 'operator', legend: 'form.operator', options, isRequired: false };
}

const REFRESH_SECONDS = 10;

export type FormState = {
  readonly attempt: string;
  readonly phone?: string;
  readonly error?: TextKey;
  readonly choice?: Choice | null;
  /** The values of the error text, besides those of every text. */
  readonly errorValues?: Values;
  /** The address of the receipt of an earlier payment in this browser. */
  readonly lastPayment?: string | null;
};

export function formPage(deps: PayDeps, found: CheckoutForPayer, pageContext: PageContext, form: FormState): Page {
  const { checkout } = found;
  const here = `/pay/${checkout.code}`;
  const timeZone = timeZoneOf(checkout.currency, deps.payments.coverage);
  const until = checkout.expiresAt && timeIn(pageContext.language, checkout.expiresAt, timeZone);
  return {
    ...pageContext,
    template: 'form',
    ...(form.error && { status: 400 }),
    title: form.error ? 'error.title' : 'form.title',
    values: { ...valuesOf(found, pageContext, deps), ...form.errorValues, ...(until !== null && { time: until }) },
    here,
    data: {
      ...purchaseOf(checkout, pageContext),
      action: here,
      attempt: form.attempt,
      phone: form.phone ?? '',
      error: form.error ?? null,
      choice: form.choice ?? null,
      until,
      lastPayment: form.lastPayment ?? null,
    },
  };
}

const CLOSED: Readonly<Record<AttemptRefusal['kind'], readonly [number, TextKey, TextKey]>> = {
  completed: [200, 'completed.title', 'completed.text'],
  cancelled: [410, 'cancelled.title', 'cancelled.text'],
  expired: [410, 'expired.title', 'expired.text'],
  live: [200, 'busy.title', 'busy.text'],
  undecided: [200, 'doubt.title', 'doubt.text'],
  waiting: [200, 'waiting.title', 'over.waiting'],
  unserved: [200, 'doubt.title', 'unserved.text'],
};
const CONFLICT = 409;

/** Shown instead of the form. `isRefusal`: the payer tried to pay nevertheless. */
export function closedPage(
  deps: PayDeps,
  found: CheckoutForPayer,
  pageContext: PageContext,
  { refusal, isRefusal }: { readonly refusal: AttemptRefusal; readonly isRefusal: boolean },
): Page {
  const { checkout } = found;
  const [status, heading, text] = CLOSED[refusal.kind];
  const path = `/pay/${checkout.code}`;
  const timeZone = timeZoneOf(checkout.currency, deps.payments.coverage);
  const time = refusal.kind === 'waiting' ? timeIn(pageContext.language, refusal.until, timeZone) : '';
  const isAwaited = refusal.kind === 'live' || refusal.kind === 'waiting';
  return {
    ...pageContext,
    template: 'message',
    status: isRefusal && status === 200 ? CONFLICT : status,
    title: heading,
    values: { ...valuesOf(found, pageContext, deps), time },
    here: path,
    // The response to a post does not reload by itself.
    refreshSeconds: isAwaited && !isRefusal ? REFRESH_SECONDS : null,
    data: {
      heading,
      texts: [text],
      formHref: isAwaited ? inLanguage(path, pageContext.chosenLanguage) : null,
      returnUrl: refusal.kind === 'completed' ? checkout.returnUrl : null,
      requestId: null,
    },
  };
}

const REFUSALS: Readonly<Partial<Record<DomainError['category'], readonly [TextKey, TextKey]>>> = {
  not_found: ['unknown.title', 'unknown.text'],
  rate_limited: ['limited.title', 'limited.text'],
  forbidden: ['stale.title', 'stale.text'],
  unavailable: ['away.title', 'away.text'],
  internal: ['failed.title', 'failed.text'],
};
const MINUTE_SECONDS = 60;

/** The page of an error, instead of the JSON for programs. `formHref`: where the payer begins again; null: nowhere. */
export function errorPage(
  error: DomainError,
  pageContext: PageContext,
  {
    here,
    formHref,
    requestId,
  }: { readonly here: string; readonly formHref: string | null; readonly requestId: string },
): Page {
  // A request that our own pages cannot have made.
  const [heading, text] = REFUSALS[error.category] ?? ['stale.title', 'stale.text'];
  const minutes = Math.ceil((error.retryAfterSeconds ?? MINUTE_SECONDS) / MINUTE_SECONDS);
  const values: Values = { minutes: String(minutes), id: requestId };
  return {
    ...pageContext,
    template: 'message',
    status: HTTP_STATUS[error.category],
    title: heading,
    values,
    here,
    data: {
      heading,
      texts: [text],
      formHref: error.category === 'not_found' ? null : formHref,
      returnUrl: null,
      requestId: error.category === 'internal' ? requestId : null,
    },
  };
}

// The hosted checkout under /pay: its pages for payers work without a script.
import { DomainError } from '../../domain/errors.ts';
import type { CollectionId } from '../../domain/ids.ts';
import { attemptKey, AttemptRefused, stageOf, type Checkout } from '../../domain/payments/checkout.ts';
import { countriesOf, isOperator, type OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { parsePhone, type Phone } from '../../domain/payments/phone.ts';
import { readTypedPhone, type TypedPhone } from '../../domain/payments/typed-phone.ts';
import { createCollection } from '../../operations/payments/create-collection.ts';
import {
  findAttemptAndCheckout,
  findAttemptForPayer,
  findCheckoutForPayer,
  type AttemptForPayer,
  type CheckoutForPayer,
} from '../../operations/payments/read-checkouts.ts';
import { checkoutLimits } from '../../security/attempt-limit.ts';
import { isCode } from '../../security/token.ts';
import { addressOf, type ApiContext, type ApiMiddleware } from '../context.ts';
import { offerPayments } from '../route.ts';
import { mediaTypeUnsupported, routeNotFound } from '../errors.ts';
import { parseForm } from '../form.ts';
import { readFormText } from '../middleware/body.ts';
import {
  giveAttemptCode,
  isFromOtherSite,
  keepAttemptCode,
  readAttemptCode,
  readAttemptCookie,
  type AttemptCode,
} from './attempt-code.ts';
import { mayTryAgain, receiptPage, refusalOf, statusPage, type AttemptVisit } from './attempt-page.ts';
import {
  closedPage,
  countryChoice,
  errorPage,
  formerValues,
  formPage,
  operatorChoice,
  type FormState,
} from './checkout-page.ts';
import { inLanguage, SCRIPT_PATH, sendPage, sendScript } from './render.ts';
import type { TextKey } from './texts-en.ts';
import { pageContextOf, type PayDeps, type PageContext } from './visit.ts';

const PREFIX = '/pay/';
const PATH = /^\/pay\/([0-9a-z]{32})(?:\/([0-9a-z]{32})(\/receipt)?)?$/;
/** Errors about what a payer typed, which the form shows again. */
const FORM_ERRORS: Readonly<Record<string, TextKey>> = {
  phone_invalid: 'error.phone.invalid',
  phone_unsupported: 'error.phone.unsupported',
};

function formErrorOf({ code, issues: [issue] }: DomainError): TextKey | undefined {
  // Outside the bounds of the phone's operator, or no multiple of its step.
  return issue?.param === 'amount' ? 'error.amount' : FORM_ERRORS[code];
}

export function isPayPage({ path }: { readonly path: string }): boolean {
  return path.startsWith(PREFIX);
}

/** Passes on every path outside /pay/. Throws the errors that `respondWithPage` shows. */
export function servePayPages(deps: PayDeps): ApiMiddleware {
  return (ctx, next) => (isPayPage(ctx) ? servePage(ctx, deps) : next());
}

async function servePage(ctx: ApiContext, deps: PayDeps): Promise<void> {
  const [, code = '', attemptCode, receipt] = PATH.exec(ctx.path) ?? [];
  const isScript = ctx.path === SCRIPT_PATH;
  if (!isScript && !isCode(code)) throw routeNotFound();
  requireMethod(ctx, !isScript && attemptCode === undefined ? ['GET', 'POST'] : ['GET']);
  if (isScript) sendScript(ctx);
  else if (ctx.method === 'POST') await pay(ctx, deps, code);
  else if (attemptCode === undefined) await showCheckout(ctx, deps, code);
  else await showAttempt(ctx, deps, { code, attemptCode, isReceipt: receipt !== undefined });
}

export function respondWithPage(ctx: ApiContext, deps: Pick<PayDeps, 'environment'>, error: DomainError): void {
  const pageContext = pageContextOf(ctx, deps, ctx.query['lang']);
  const [, code] = PATH.exec(ctx.path) ?? [];
  const here = code === undefined ? PREFIX : `${PREFIX}${code}`;
  const formHref = code === undefined ? null : inLanguage(here, pageContext.chosenLanguage);
  sendPage(ctx, errorPage(error, pageContext, { here, formHref, requestId: ctx.state.requestId }));
}

function requireMethod(ctx: ApiContext, methods: readonly string[]): void {
  if (methods.includes(ctx.method === 'HEAD' ? 'GET' : ctx.method)) return;
  ctx.set('Allow', ['GET', 'HEAD', ...methods.filter((method) => method !== 'GET')].join(', '));
  throw new DomainError('method_not_allowed', `This page supports ${methods.join(' and ')}.`);
}

async function findCheckout({ db }: PayDeps, code: string): Promise<CheckoutForPayer> {
  const found = await findCheckoutForPayer(db, code);
  if (!found) throw new DomainError('checkout_not_found', 'There is no checkout at this address.');
  return found;
}

async function showCheckout(ctx: ApiContext, deps: PayDeps, code: string): Promise<void> {
  const pageContext = pageContextOf(ctx, deps, ctx.query['lang']);
  const found = await findCheckout(deps, code);
  const kept = readAttemptCookie(ctx, deps);
  const ownAttempt = kept && (await findAttemptForPayer(deps.db, found.checkout, kept.sha256));
  if (kept && ownAttempt && leadsToItsPage(found.checkout, ownAttempt)) {
    redirect(ctx, attemptPath(found.checkout, kept, pageContext));
    return;
  }
  const refusal = refusalOf(deps, found, new Date());
  if (refusal) {
    sendPage(ctx, closedPage(deps, found, pageContext, { refusal, isRefusal: false }));
    return;
  }
  const attempt = nextCode(ctx, deps, code, ownAttempt ? null : kept);
  const wasPaid = ownAttempt !== null && stageOf(ownAttempt.collection) === 'paid';
  const lastPayment = kept && wasPaid ? attemptPath(found.checkout, kept, pageContext) : null;
  sendPage(ctx, formPage(deps, found, pageContext, { attempt, lastPayment }));
}

/** Whether the payer is led to the attempt's page: a reusable checkout does so only while the attempt is live. */
function leadsToItsPage({ use }: Checkout, { collection }: AttemptForPayer): boolean {
  const stage = stageOf(collection);
  return use === 'reusable' ? stage === 'live' : stage !== 'over';
}

// A code without an attempt stays: two tabs, or a page loaded twice, make one attempt together.
function nextCode(ctx: ApiContext, deps: PayDeps, checkoutCode: string, unused: AttemptCode | null): string {
  if (unused === null) return giveAttemptCode(ctx, deps, checkoutCode).code;
  keepAttemptCode(ctx, deps, checkoutCode, unused);
  return unused.code;
}

async function showAttempt(
  ctx: ApiContext,
  deps: PayDeps,
  {
    code,
    attemptCode,
    isReceipt,
  }: { readonly code: string; readonly attemptCode: string; readonly isReceipt: boolean },
): Promise<void> {
  const pageContext = pageContextOf(ctx, deps, ctx.query['lang']);
  const given = readAttemptCode(attemptCode);
  const read = given && (await findAttemptAndCheckout(deps.db, code, given.sha256));
  if (!read) {
    if (!given || given.code !== readAttemptCookie(ctx, deps)?.code)
      throw new DomainError('checkout_not_found', 'There is no attempt at this address.');
    // Another post of the form is making the attempt, or was refused.
    redirect(ctx, inLanguage(`${PREFIX}${code}`, pageContext.chosenLanguage));
    return;
  }
  const { found } = read;
  const visit: AttemptVisit = { ...read, code: attemptCode, pageContext, at: new Date() };
  if (isReceipt) {
    const page = receiptPage(deps, visit);
    if (!page) throw new DomainError('checkout_not_found', 'There is no receipt of what was not paid.');
    sendPage(ctx, page);
    return;
  }
  sendPage(ctx, statusPage(deps, visit, mayTryAgain(deps, visit) ? await codeForAnother(ctx, deps, found) : null));
}

async function codeForAnother(ctx: ApiContext, deps: PayDeps, { checkout }: CheckoutForPayer): Promise<string> {
  const kept = readAttemptCookie(ctx, deps);
  const isUsed = kept !== null && (await findAttemptForPayer(deps.db, checkout, kept.sha256)) !== null;
  return nextCode(ctx, deps, checkout.code, isUsed ? null : kept);
}

/** Handles a posted form. One code makes one attempt, however often the form is posted. */
async function pay(ctx: ApiContext, deps: PayDeps, code: string): Promise<void> {
  if (isFromOtherSite(ctx, deps)) throw stale('from another site');
  const fields = await readFields(ctx);
  const pageContext = pageContextOf(ctx, deps, fields['lang']);
  const attempt = readAttemptCode(fields['attempt']);
  if (!attempt || readAttemptCookie(ctx, deps)?.code !== attempt.code) throw stale('the cookie is not of the form');
  const found = await findCheckout(deps, code);
  const typed = typeof fields['phone'] === 'string' ? fields['phone'].trim() : '';
  if (await findAttemptForPayer(deps.db, found.checkout, attempt.sha256)) {
    redirect(ctx, attemptPath(found.checkout, attempt, pageContext));
    return;
  }
  const refusal = refusalOf(deps, found, new Date());
  if (refusal?.kind === 'unserved') {
    sendPage(ctx, closedPage(deps, found, pageContext, { refusal, isRefusal: true }));
    return;
  }
  const showError = (error: TextKey, shown: Pick<FormState, 'phone' | 'choice' | 'errorValues'> = {}) => {
    sendPage(ctx, formPage(deps, found, pageContext, { attempt: attempt.code, phone: typed, error, ...shown }));
  };
  const earlier = await earlierPayer(deps, found, fields['again']);
  const served = countriesOf(found.checkout.currency, deps.payments.coverage);
  const read = earlier ?? readTyped(typed, served, fields['country']);
  if (read.kind === 'ambiguous') {
    showError('error.phone.country', { choice: countryChoice(read.phones, pageContext) });
    return;
  }
  if (read.kind === 'refused') {
    const formerOf = read.formerOf.filter((country) => served.includes(country));
    if (formerOf.length > 0) showError('error.phone.longer', { errorValues: formerValues(formerOf, pageContext) });
    else showError(typed === '' ? 'error.phone.missing' : 'error.phone.invalid');
    return;
  }
  const { digits: phone } = read.phone;
  const named = isOperator(fields['operator']) ? fields['operator'] : null;
  const operator = earlier?.operator ?? named;
  try {
    const { requestId } = ctx.state;
    const created = await makeAttempt(deps, found, { attempt, phone, operator, address: addressOf(ctx), requestId });
    if (created) ctx.state.paymentId = created;
    redirect(ctx, attemptPath(found.checkout, attempt, pageContext));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const formError = formErrorOf(error);
    if (error instanceof AttemptRefused)
      sendPage(ctx, closedPage(deps, found, pageContext, { refusal: error.refusal, isRefusal: true }));
    else if (formError) {
      const choice = error.code === 'phone_unsupported' ? operatorChoice(deps, found, read.phone) : null;
      // With the chosen country, so that it need not be chosen again.
      showError(formError, { choice, phone: fields['country'] === undefined || earlier ? typed : `+${phone}` });
    }
    // The same form was posted twice at once: the first post makes the attempt, and its page shows the outcome.
    else if (error.type === 'idempotency_error') redirect(ctx, attemptPath(found.checkout, attempt, pageContext));
    else throw error;
  }
}

async function readFields(ctx: ApiContext): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFormText(ctx);
  if (text === null) throw mediaTypeUnsupported();
  return parseForm(text);
}

/** Phone and operator of the payer's earlier attempt, for another try; no page shows all of that phone. Or null. */
async function earlierPayer(
  deps: PayDeps,
  { checkout }: CheckoutForPayer,
  again: unknown,
): Promise<{ readonly kind: 'phone'; readonly phone: Phone; readonly operator: OperatorId } | null> {
  const code = readAttemptCode(again);
  const earlierAttempt = code && (await findAttemptForPayer(deps.db, checkout, code.sha256));
  const phone = earlierAttempt && parsePhone(earlierAttempt.collection.phone);
  return phone ? { kind: 'phone', phone, operator: earlierAttempt.collection.operator } : null;
}

/** The number in the country that the payer chose, if it is valid in several. */
function readTyped(typed: string, countries: readonly string[], country: unknown): TypedPhone {
  const read = readTypedPhone(typed, countries);
  const chosen = read.kind === 'ambiguous' ? read.phones.find((phone) => phone.country === country) : undefined;
  return chosen ? { kind: 'phone', phone: chosen } : read;
}

type NewAttempt = {
  readonly attempt: AttemptCode;
  readonly phone: string;
  /** Null: derived from the phone's prefix. */
  readonly operator: OperatorId | null;
  readonly address: string | null;
  readonly requestId: string;
};

/** The collection that the attempt made; null if another post of the form had made it. */
async function makeAttempt(
  deps: PayDeps,
  { checkout }: CheckoutForPayer,
  { attempt, phone, operator, address, requestId }: NewAttempt,
): Promise<CollectionId | null> {
  const { merchantId } = checkout;
  const limits = checkoutLimits({
    checkoutId: checkout.id,
    isReusable: checkout.use === 'reusable',
    phone,
    address,
    maxPerAddress: deps.checkoutAttemptsPerAddress,
  });
  const created = await createCollection(deps.payments, {
    merchantId,
    merchantCurrency: checkout.currency,
    idempotencyKey: attemptKey(checkout.id, attempt.sha256),
    request: {
      phone,
      amountMinor: checkout.amountMinor,
      reference: checkout.reference,
      currency: null,
      description: checkout.description,
      metadata: checkout.metadata,
      ...(operator && { operator }),
    },
    requestId,
    apiKeyId: null,
    refusal: deps.refusalOfWork(merchantId),
    attempt: { checkoutId: checkout.id, codeSha256: attempt.sha256, limits },
    at: new Date(),
  });
  offerPayments(deps, created);
  return created.kind === 'accepted' ? created.payments[0].id : null;
}

function attemptPath({ code }: Checkout, attempt: AttemptCode, { chosenLanguage }: PageContext): string {
  return inLanguage(`${PREFIX}${code}/${attempt.code}`, chosenLanguage);
}

function redirect(ctx: ApiContext, path: string): void {
  ctx.status = 303;
  ctx.set('Location', path);
  ctx.body = '';
}

function stale(reason: string): DomainError {
  return new DomainError('permission_denied', 'This form did not come from our page.', { reason });
}

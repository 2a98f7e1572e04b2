// The guides that follow from the code, as Markdown: payment states, the sandbox's phone numbers, errors with remedies.
import { HTTP_STATUS } from '../src/api/errors.ts';
import { ERRORS, type ErrorType } from '../src/domain/error-codes.ts';
import { ERROR_CODES, errorCategory, errorType } from '../src/domain/errors.ts';
import { approvalState } from '../src/domain/payments/approval.ts';
import { COLLECTION_STATES, COLLECTION_TRANSITIONS, type CollectionState } from '../src/domain/payments/collection.ts';
import { FAILURE_CODES, failure } from '../src/domain/payments/failure.ts';
import { PAYOUT_STATES, PAYOUT_TRANSITIONS, type PayoutState } from '../src/domain/payments/payout.ts';
import { COLLECTION_BEHAVIOURS, PAYOUT_BEHAVIOURS } from '../src/sandbox/behaviours.ts';
import { code, markdownTable, page } from './markdown.ts';

const NOTICE = '<!-- Generated from the code by `npm run docs`; do not edit. -->';

export function generatedGuides(): Readonly<Record<string, string>> {
  return {
    'docs/guides/states.md': statesGuide(),
    'docs/guides/test-numbers.md': testNumbersGuide(),
    'docs/guides/errors.md': errorsGuide(),
  };
}

const COLLECTION_MEANINGS: Readonly<Record<CollectionState, string>> = {
  initiated: 'We have recorded it. The payer’s phone has not rung yet.',
  prompted: 'The payer’s phone shows the prompt, and they can enter their PIN.',
  reconciling:
    'We do not know how it ended: the operator is unreachable, or undecided past the prompt. We keep asking. Do not deliver, and do not ask the payer to pay again.',
  succeeded: 'The money is in your available balance. Deliver.',
  failed: 'The operator said no; `failure` says why. Final.',
  expired:
    'The payer did not answer in time, or was never asked. A success may still arrive late: the event then says `late: true`.',
  reversed: 'The whole amount went back to the payer, and left your balance. Final.',
};

const PAYOUT_MEANINGS: Readonly<Record<PayoutState, string>> = {
  queued: 'The amount is held and waits for a second person.',
  released:
    'A second person agreed; it is sent once the operator takes it. Until we begin to, its maker can cancel it.',
  reconciling: 'The operator’s answer is unknown. The money stays held, and nothing is sent twice.',
  succeeded: 'The payee has the money.',
  failed: 'The operator said no. The money is available again. Final.',
  rejected: 'A second person said no. It was never sent; the money is available again. Final.',
  cancelled: 'Its maker cancelled it. It was never sent; the money is available again. Final.',
  expired: 'Nobody decided in time. It was never sent; the money is available again. Final.',
  reversed: 'The operator returned the money, which is available again. Final.',
};

function statesGuide(): string {
  return page('Payment states', NOTICE, [
    'A state says what is true of the money. Write your code for the states, not for the order in which events arrive: fetch the payment, read `state`, and treat a state that you do not know as undecided.',
    '## Collections',
    'Only `succeeded` means paid. A `202` means that we took the request, and nothing more.',
    markdownTable(
      ['state', 'what it means', 'can become'],
      COLLECTION_STATES.map((state) => [
        code(state),
        COLLECTION_MEANINGS[state],
        nextOf(COLLECTION_TRANSITIONS[state]),
      ]),
    ),
    '## Payouts',
    'The amount moves from `available` to `held` when the payout is created. It leaves when the payee has it, and returns when it cannot be paid.',
    markdownTable(
      ['state', '`approval_state`', 'what it means', 'can become'],
      PAYOUT_STATES.map((state) => [
        code(state),
        code(approvalState(state)),
        PAYOUT_MEANINGS[state],
        nextOf(PAYOUT_TRANSITIONS[state]),
      ]),
    ),
    '## Why a payment failed',
    'A payment that is `failed`, and a collection that is `expired`, has `failure` with one of these codes and a message that you may show to your support, not to the payer.',
    markdownTable(
      ['`failure.code`', 'message'],
      FAILURE_CODES.map((each) => [code(each), failure(each).message]),
    ),
    '## What to do with it',
    [
      '- **Show the payer** three outcomes: paid (`succeeded`), not paid (`failed`, `expired`), and *we are finding out* (everything else).',
      '- **Deliver** on `succeeded`, after you fetched the collection. A webhook tells you when to look: [webhooks](webhooks.md).',
      '- **Let a payer try again** after `failed` or `expired`, as a new collection under a new key. Never during `reconciling`: they may pay twice.',
      '- **Expect news of old payments**: an `expired` collection can still be paid, and a `succeeded` one reversed.',
    ].join('\n'),
  ]);
}

function testNumbersGuide(): string {
  const rows = [...COLLECTION_BEHAVIOURS].map(([endsIn, { summary }]) => [
    code(endsIn),
    summary,
    PAYOUT_BEHAVIOURS.get(endsIn)?.summary ?? 'paid',
  ]);
  return page('Test numbers', NOTICE, [
    'With a test key no money moves and no phone rings. The sandbox operator stands in for the mobile-money operator, and **the last three digits of the phone decide how a payment ends**. Put any valid number of your market before them: `256772000` (MTN; `256752000` is Airtel, `254722000` M-Pesa) and `006` is `256772000006`, a payer without enough money.',
    markdownTable(['ends in', 'a collection', 'a payout'], [...rows, ['anything else', 'paid', 'paid']]),
    'A paid payment is `succeeded`, a prompt that times out `expired`, any refusal `failed`. `009` is `reconciling` and then `succeeded`, a collection with `late: true`. `010` is `reconciling`, a collection until it expires with the failure `unknown`, a payout for ever. `015` is `succeeded` and then `reversed`. `020` and `021` stay `reconciling`: a person must find out what was paid.',
    '## Manual decisions',
    'A number that ends in `099` waits for a person: with `npm start` approve or decline the payment at `$MALIPO_SANDBOX_URL/sandbox/transactions` (the address is printed, and in `var/demo.env`). `$MALIPO_SANDBOX_URL/sandbox/handset` shows the payer’s phone, with a PIN. You have as long as a prompt stays open, which is minutes.',
    'You can decide any other waiting payment there too, before the table does.',
    '## How long it takes',
    'Most payments are decided after 1.5 seconds. `003` ends when the prompt times out at the operator, a payout at its send deadline. `009` and `010` outlast the prompt, so they take minutes: use them to see that your shop waits while a payment is `reconciling`.',
    '## When the operator itself fails',
    'The sandbox has switches for a slow, a failing and an unreachable operator, for tests of what your shop does meanwhile:',
    fence(
      'sh',
      "curl -sS -X PUT \"$MALIPO_SANDBOX_URL/sandbox/faults\" -H 'Content-Type: application/json' -d '{\"down\": true}'   # or floatLow, latencyMs, errorRate\ncurl -sS -X PUT \"$MALIPO_SANDBOX_URL/sandbox/faults\" -H 'Content-Type: application/json' -d '{}'               # all off",
    ),
  ]);
}

const TYPE_MEANINGS: Readonly<Record<ErrorType, readonly [title: string, about: string]>> = {
  authentication_error: ['Authentication', 'The key does not work. Do not retry: nothing changes by itself.'],
  permission_error: [
    'Permission',
    'The key or person is known, and not allowed to do this. A console route gives no reason: the status is 403 with a valid session, and 401 without one, which includes a log-in that fails.',
  ],
  invalid_request_error: [
    'Invalid requests',
    'Nothing was recorded. Correct the request; the same key may be used again.',
  ],
  idempotency_error: ['Idempotency', 'These protect you from paying twice.'],
  payment_error: ['Payments', 'The request is valid, but the balance or the state of the payment does not allow it.'],
  rate_limit_error: ['Rate limit', 'Slow down, then send the same request again.'],
  api_error: ['Service errors', 'Send the same request with the same key again.'],
};

function errorsGuide(): string {
  const sections = Object.entries(TYPE_MEANINGS).flatMap(([type, [title, about]]) => [
    `## ${title}`,
    `\`${type}\`. ${about}`,
    markdownTable(['code', 'HTTP', 'cause', 'remedy'], rowsOfErrors(type as ErrorType)),
  ]);
  return page('Errors', NOTICE, [
    'Every error has one shape. Decide by `code`; treat a code that you do not know like its `type`. `message` tells people what to do next, and may change.',
    fence(
      'json',
      JSON.stringify(
        {
          error: {
            type: 'invalid_request_error',
            code: 'phone_invalid',
            message: 'phone must be a mobile number: digits only, country code first, …',
            param: 'phone',
            request_id: 'req_01j9z3k5m7n9p1q3r5s7t9v1w3',
            errors: [{ param: 'phone', code: 'phone_invalid', message: '…' }],
          },
        },
        null,
        2,
      ),
    ),
    '`errors` lists everything that is wrong with a request, and `param` names the first. Log `request_id`: with it your request log in the console, and we, find what happened.',
    ...sections,
  ]);
}

/** One row for all codes with the same status, cause and remedy. */
function rowsOfErrors(type: ErrorType): string[][] {
  const rows = new Map<string, { readonly codes: string[]; readonly rest: readonly string[] }>();
  for (const each of ERROR_CODES.filter((one) => errorType(one) === type)) {
    const { cause, remedy } = ERRORS[each];
    const rest = [String(HTTP_STATUS[errorCategory(each)]), cause, remedy];
    const row = rows.get(rest.join());
    if (row) row.codes.push(code(each));
    else rows.set(rest.join(), { codes: [code(each)], rest });
  }
  return [...rows.values()].map(({ codes, rest }) => [codes.join(', '), ...rest]);
}

function nextOf(targets: Readonly<Record<string, string>>): string {
  const next = [...new Set(Object.values(targets))];
  return next.length === 0 ? 'nothing: final' : next.map(code).join(', ');
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

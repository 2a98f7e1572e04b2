// The guides that follow from the code, as Markdown: payment states, the sandbox's phone numbers, errors with their remedies.
import { HTTP_STATUS } from '../src/api/errors.ts';
import { ERRORS, type ErrorType } from '../src/domain/error-codes.ts';
import { ERROR_CODES, errorCategory, errorType } from '../src/domain/errors.ts';
import { approvalState } from '../src/domain/payments/approval.ts';
import { COLLECTION_STATES, COLLECTION_TRANSITIONS, type CollectionState } from '../src/domain/payments/collection.ts';
import { FAILURE_CODES, failure } from '../src/domain/payments/failure.ts';
import { PAYOUT_STATES, PAYOUT_TRANSITIONS, type PayoutState } from '../src/domain/payments/payout.ts';
import { COLLECTION_BEHAVIOURS, PAYOUT_BEHAVIOURS } from '../src/sandbox/behaviours.ts';

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
  released: 'A second person agreed; it is being sent.',
  reconciling: 'The operator’s answer is unknown. The money stays held, and nothing is sent twice.',
  succeeded: 'The payee has the money.',
  failed: 'The operator said no. The money is available again. Final.',
  rejected: 'A second person said no. It was never sent; the money is available again. Final.',
  cancelled: 'Whoever made it took it back. It was never sent; the money is available again. Final.',
  expired: 'Nobody decided in time. It was never sent; the money is available again. Final.',
  reversed: 'The operator returned the money, which is available again. Final.',
};

function statesGuide(): string {
  return page('Payment states', [
    'A state says what is true of the money. Write your code for the states, not for the order in which events arrive: fetch the payment, look at `state`, and treat a state that you do not know as undecided.',
    '## Collections',
    'Only `succeeded` means paid. A `202` means that we took the request, and nothing more.',
    table(
      ['state', 'what it means', 'can become'],
      COLLECTION_STATES.map((state) => [
        code(state),
        COLLECTION_MEANINGS[state],
        nextOf(COLLECTION_TRANSITIONS[state]),
      ]),
    ),
    '## Payouts',
    'The amount moves from `available` to `held` when the payout is created. It leaves when the payee has it, and returns when it cannot be paid.',
    table(
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
    table(
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
  return page('Test numbers', [
    'With a test key no money moves and no phone rings. The sandbox operator stands in for the mobile-money operator, and **the last three digits of the phone decide how a payment ends**. Put any valid number of your market before them: `256772000` and `006` is `256772000006`, a payer without enough money.',
    table(['ends in', 'a collection', 'a payout'], [...rows, ['anything else', 'paid', 'paid']]),
    '## Deciding by hand',
    'A number that ends in `099` waits for a person: with `npm start` open the sandbox’s page (its address is printed, and `$MALIPO_SANDBOX_URL/sandbox/transactions` in `var/demo.env`), and approve or decline the payment there. `$MALIPO_SANDBOX_URL/sandbox/handset` shows the payer’s phone, with a PIN. You have as long as a prompt stays open, which is minutes.',
    'Any other payment that is still waiting can be decided there too, before the table does.',
    '## How long it takes',
    'Most payments are decided after 1.5 seconds. `003` ends when the prompt times out at the operator. `009` and `010` outlast the prompt, so they take minutes: use them to see that your shop waits while a payment is `reconciling`.',
    '## When the operator itself fails',
    'The sandbox has switches for a slow, a failing and an unreachable operator, for tests of what your shop does meanwhile:',
    fence(
      'sh',
      "curl -sS -X PUT \"$MALIPO_SANDBOX_URL/sandbox/faults\" -H 'Content-Type: application/json' -d '{\"down\": true}'   # or latencyMs, errorRate\ncurl -sS -X PUT \"$MALIPO_SANDBOX_URL/sandbox/faults\" -H 'Content-Type: application/json' -d '{}'               # all off",
    ),
  ]);
}

const TYPE_MEANINGS: Readonly<Record<ErrorType, readonly [title: string, about: string]>> = {
  authentication_error: ['Who are you?', 'The key does not work. Do not retry: nothing will change by itself.'],
  permission_error: ['You may not', 'The key or person is known, and not allowed to do this.'],
  invalid_request_error: [
    'The request is wrong',
    'Nothing was recorded. Correct the request; the same key may be used again.',
  ],
  idempotency_error: ['The key of a retry', 'These protect you from paying twice.'],
  payment_error: [
    'The payment cannot be made now',
    'The request is sound, and the money or the payment’s state is in the way.',
  ],
  rate_limit_error: ['Too fast', 'Slow down, then send the same again.'],
  api_error: ['Our side', 'Send the same request with the same key again.'],
};

function errorsGuide(): string {
  const sections = Object.entries(TYPE_MEANINGS).flatMap(([type, [title, about]]) => [
    `## ${title}`,
    `\`${type}\`. ${about}`,
    table(
      ['code', 'HTTP', 'cause', 'remedy'],
      ERROR_CODES.filter((each) => errorType(each) === type).map((each) => {
        const { cause, remedy } = ERRORS[each];
        return [code(each), String(HTTP_STATUS[errorCategory(each)]), cause, remedy];
      }),
    ),
  ]);
  return page('Errors', [
    'Every error has one shape. Decide by `code`; treat a code that you do not know like its `type`. `message` is for people, says what to do next, and may change.',
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

function nextOf(targets: Readonly<Record<string, string>>): string {
  const next = [...new Set(Object.values(targets))];
  return next.length === 0 ? 'nothing: final' : next.map(code).join(', ');
}

function code(text: string): string {
  return `\`${text}\``;
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

function page(title: string, parts: readonly string[]): string {
  return [`# ${title}`, NOTICE, ...parts].join('\n\n') + '\n';
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

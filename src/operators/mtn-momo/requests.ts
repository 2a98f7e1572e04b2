// Our requests in MTN's format: paths, headers and bodies.
import { toDecimalString, type Money } from '../../domain/money.ts';
import type { HttpRequest } from '../http-client.ts';
import { cleanNote } from '../payer-note.ts';
import type { PayoutRequest, PromptRequest, RefundRequest } from '../port.ts';

type CallbackUrl = (operatorReference: string) => string;

const NOTE_RULES = { maxLength: 160, fallback: 'Payment' };

export function requestToPay(request: PromptRequest, callbackUrl: CallbackUrl): HttpRequest {
  return post('/requesttopay', callbackUrl, {
    ...named(request.operatorReference, request.money),
    payer: { partyIdType: 'MSISDN', partyId: request.phone },
    ...notes(request.payerMessage),
  });
}

export function transfer(request: PayoutRequest, callbackUrl: CallbackUrl): HttpRequest {
  return post('/transfer', callbackUrl, {
    ...named(request.operatorReference, request.money),
    payee: { partyIdType: 'MSISDN', partyId: request.phone },
    ...notes(request.payeeMessage),
  });
}

export function refund(request: RefundRequest, callbackUrl: CallbackUrl): HttpRequest {
  return post('/refund', callbackUrl, {
    ...named(request.operatorReference, request.money),
    ...notes(request.note),
    referenceIdToRefund: request.originalOperatorReference,
  });
}

type Body = { readonly externalId: string } & Readonly<Record<string, unknown>>;

function post(path: string, callbackUrl: CallbackUrl, body: Body): HttpRequest {
  return {
    method: 'POST',
    path,
    headers: {
      'Content-Type': 'application/json',
      'X-Reference-Id': body.externalId,
      'X-Callback-Url': callbackUrl(body.externalId),
    },
    body: JSON.stringify(body),
  };
}

// MTN's callbacks do not contain X-Reference-Id; callbacks and statuses name their payment by `externalId`.
function named(operatorReference: string, money: Money) {
  return { amount: toDecimalString(money), currency: money.currency, externalId: operatorReference };
}

// Both fields have the same text: the field that the payer sees differs between MTN's products and markets.
function notes(text: string) {
  const note = cleanNote(text, NOTE_RULES);
  return { payerMessage: note, payeeNote: note };
}

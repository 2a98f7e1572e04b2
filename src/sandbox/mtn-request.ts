// Reads a request-to-pay as strictly as MTN does, and says what MTN would say of a wrong one.
import { z } from 'zod';
import type { SandboxSettings } from './sandbox-config.ts';
import type { Order } from './transaction.ts';

export type MtnRefusal = { readonly status: number; readonly code: string; readonly message: string };

type MtnReading = { readonly order: Order } | { readonly refusal: MtnRefusal };

type RawRequest = { readonly referenceId: string; readonly callbackUrl: string; readonly body: unknown };

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const CALLBACK_URL_LENGTH = 2048;

const note = z
  .string()
  .max(160)
  .regex(/^[^']*$/)
  .default('');

const requestToPay = z.object({
  amount: z
    .string()
    .regex(/^\d{1,13}(\.\d{1,2})?$/)
    .refine((amount) => /[1-9]/.test(amount)),
  currency: z.string().regex(/^[A-Z]{3}$/),
  externalId: z.string().max(100).optional(),
  payer: z.object({ partyIdType: z.literal('MSISDN'), partyId: z.string().regex(/^[1-9]\d{7,14}$/) }),
  payerMessage: note,
  payeeNote: note,
});

export function readRequestToPay(
  { referenceId, callbackUrl, body }: RawRequest,
  settings: SandboxSettings,
): MtnReading {
  if (!UUID_V4.test(referenceId)) return badRequest('X-Reference-Id must be a UUID, version 4.');
  const parsed = requestToPay.safeParse(body);
  if (!parsed.success) return badRequest(`Wrong in the body: ${wrongFields(parsed.error)}.`);
  const { amount, currency, externalId, payer, payerMessage, payeeNote } = parsed.data;
  if (!settings.currencies.includes(currency)) {
    return { refusal: { status: 500, code: 'INVALID_CURRENCY', message: 'Currency not supported.' } };
  }
  const url = callbackUrl === '' ? null : parseCallbackUrl(callbackUrl);
  if (url === undefined) return badRequest('X-Callback-Url is not an http or https address.');
  if (url !== null && settings.callbackHosts?.has(url.hostname) === false) {
    const message = 'The callback host is not the registered one.';
    return { refusal: { status: 500, code: 'INVALID_CALLBACK_URL_HOST', message } };
  }
  const order: Order = {
    operatorReference: referenceId.toLowerCase(),
    phone: payer.partyId,
    amount,
    currency,
    externalId: externalId ?? null,
    payerMessage,
    payeeNote,
    callbackUrl: url?.href ?? null,
  };
  return { order };
}

function parseCallbackUrl(text: string): URL | undefined {
  if (text.length > CALLBACK_URL_LENGTH || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return ['http:', 'https:'].includes(url.protocol) ? url : undefined;
}

// Names only: the values are a payer's.
function wrongFields(error: z.ZodError): string {
  return [...new Set(error.issues.map(({ path }) => (path.length === 0 ? 'all of it' : path.join('.'))))].join(', ');
}

function badRequest(message: string): MtnReading {
  return { refusal: { status: 400, code: 'REQUEST_REJECTED', message } };
}

// Parses payment requests as strictly as MTN does, and rejects an invalid one as MTN would.
import { z } from 'zod';
import { INTERNAL, INVALID_CALLBACK_HOST, INVALID_CURRENCY, type MtnRefusal } from './mtn-refusals.ts';
import type { RefundRequest } from './payment-intake.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import type { SandboxRequest } from './transaction.ts';

export type MtnParseResult<T> = { readonly request: T } | { readonly refusal: MtnRefusal };

export type RawRequest = { readonly referenceId: string; readonly callbackUrl: string; readonly body: unknown };

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const CALLBACK_URL_LENGTH = 2048;

// MTN is known to refuse an apostrophe and `&`; we assume that MTN also refuses the other characters of markup.
const note = z
  .string()
  .max(160)
  .regex(/^[^&<>"']*$/)
  .default('');

const party = z.object({ partyIdType: z.literal('MSISDN'), partyId: z.string().regex(/^[1-9]\d{7,14}$/) });

const commonFields = {
  amount: z
    .string()
    .regex(/^\d{1,13}(\.\d{1,2})?$/)
    .refine((amount) => /[1-9]/.test(amount)),
  currency: z.string().regex(/^[A-Z]{3}$/),
  externalId: z.string().max(100).optional(),
  payerMessage: note,
  payeeNote: note,
};

const requestToPay = z.object({ ...commonFields, payer: party });
const transfer = z.object({ ...commonFields, payee: party });
const refund = z.object({ ...commonFields, referenceIdToRefund: z.string().regex(UUID_V4) });

type CommonFields = Omit<SandboxRequest, 'kind' | 'phone' | 'originalReference'>;

export function readRequestToPay(raw: RawRequest, settings: SandboxSettings): MtnParseResult<SandboxRequest> {
  return read(raw, settings, requestToPay, (fields, { payer }) => ({
    ...fields,
    kind: 'collection',
    phone: payer.partyId,
    originalReference: null,
  }));
}

export function readTransfer(raw: RawRequest, settings: SandboxSettings): MtnParseResult<SandboxRequest> {
  return read(raw, settings, transfer, (fields, { payee }) => ({
    ...fields,
    kind: 'payout',
    phone: payee.partyId,
    originalReference: null,
  }));
}

export function readRefund(raw: RawRequest, settings: SandboxSettings): MtnParseResult<RefundRequest> {
  return read(raw, settings, refund, (fields, { referenceIdToRefund }) => ({
    ...fields,
    kind: 'refund',
    originalReference: referenceIdToRefund.toLowerCase(),
  }));
}

type Body = z.infer<z.ZodObject<typeof commonFields>>;

function read<B extends Body, T>(
  { referenceId, callbackUrl, body }: RawRequest,
  settings: SandboxSettings,
  schema: z.ZodType<B>,
  toRequest: (fields: CommonFields, body: B) => T,
): MtnParseResult<T> {
  if (!UUID_V4.test(referenceId)) return badRequest('X-Reference-Id must be a UUID, version 4.');
  const parsed = schema.safeParse(body);
  if (!parsed.success) return badRequest(`Wrong in the body: ${wrongFields(parsed.error)}.`);
  const { amount, currency, externalId, payerMessage, payeeNote } = parsed.data;
  // MTN refuses an empty note, although its documents require none.
  if (payerMessage === '' || payeeNote === '') return { refusal: INTERNAL };
  if (!settings.currencies.includes(currency)) return { refusal: INVALID_CURRENCY };
  const url = callbackUrl === '' ? null : parseCallbackUrl(callbackUrl);
  if (url === undefined) return badRequest('X-Callback-Url is not an http or https address.');
  if (url !== null && settings.callbackHosts?.has(url.hostname) === false) return { refusal: INVALID_CALLBACK_HOST };
  const fields: CommonFields = {
    wire: 'mtn-momo',
    operatorReference: referenceId.toLowerCase(),
    amount,
    currency,
    externalId: externalId ?? null,
    payerMessage,
    payeeNote,
    callbackUrl: url?.href ?? null,
  };
  return { request: toRequest(fields, parsed.data) };
}

function parseCallbackUrl(text: string): URL | undefined {
  if (text.length > CALLBACK_URL_LENGTH || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return ['http:', 'https:'].includes(url.protocol) ? url : undefined;
}

// Returns field names only: the values are personal data.
function wrongFields(error: z.ZodError): string {
  return [...new Set(error.issues.map(({ path }) => (path.length === 0 ? 'all of it' : path.join('.'))))].join(', ');
}

function badRequest(message: string): { readonly refusal: MtnRefusal } {
  return { refusal: { status: 400, code: 'REQUEST_REJECTED', message } };
}

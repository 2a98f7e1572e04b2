// Parses requests in Daraja's format, as strictly as Daraja does.
import { z } from 'zod';
import { isTimestamp } from './daraja-ids.ts';

/** `wrong` is Daraja's name of the invalid field; null if the whole body is invalid. */
export type DarajaRead<T> = { readonly request: T } | { readonly wrong: string | null };

const MOST_PER_PROMPT = 250_000;
const TEXT_LENGTH = 100;
const URL_LENGTH = 2048;
/** Daraja takes no address with one of these words, in upper or lower case. */
const FORBIDDEN_IN_URLS = /mpesa|m-pesa|safaricom|exe|cmd|sql|query/i;

// Clients write numbers with and without quotes.
const text = z.union([z.string(), z.number()]).transform(String);
const phone = text.pipe(z.string().regex(/^254[17]\d{8}$/));
const wholeAmount = text.pipe(z.string().regex(/^[1-9]\d{0,8}$/));
const remarks = z.string().min(1).max(TEXT_LENGTH);
const occasion = z.string().max(TEXT_LENGTH).optional();
const required = z.string().min(1);
const url = z
  .string()
  .max(URL_LENGTH)
  .refine((given) => URL.canParse(given) && ['http:', 'https:'].includes(new URL(given).protocol))
  .refine((given) => !FORBIDDEN_IN_URLS.test(given));

const merchant = {
  BusinessShortCode: text,
  Password: required,
  Timestamp: text.pipe(z.string().refine(isTimestamp)),
};

const stkPush = z
  .object({
    ...merchant,
    TransactionType: z.enum(['CustomerPayBillOnline', 'CustomerBuyGoodsOnline']),
    Amount: wholeAmount.refine((amount) => Number(amount) <= MOST_PER_PROMPT),
    PartyA: phone,
    PartyB: text,
    PhoneNumber: phone,
    CallBackURL: url,
    AccountReference: required,
    TransactionDesc: required,
  })
  .refine(({ PartyA, PhoneNumber }) => PartyA === PhoneNumber, { path: ['PartyA'] })
  .refine(({ PartyB, BusinessShortCode }) => PartyB === BusinessShortCode, { path: ['PartyB'] });

const stkQuery = z.object({ ...merchant, CheckoutRequestID: required });

const addresses = { QueueTimeOutURL: url, ResultURL: url };

const b2c = z.object({
  OriginatorConversationID: required.max(TEXT_LENGTH),
  InitiatorName: required,
  SecurityCredential: required,
  CommandID: z.enum(['BusinessPayment', 'SalaryPayment', 'PromotionPayment']),
  Amount: wholeAmount,
  PartyA: text,
  PartyB: phone,
  Remarks: remarks,
  ...addresses,
  // Daraja's spelling.
  Occassion: occasion,
});

const command = {
  Initiator: required,
  SecurityCredential: required,
  Remarks: remarks,
  Occasion: occasion,
  ...addresses,
};

const transactionStatus = z
  .object({
    ...command,
    CommandID: z.literal('TransactionStatusQuery'),
    TransactionID: z.string().optional(),
    OriginalConversationID: z.string().optional(),
    PartyA: text,
    IdentifierType: text.pipe(z.enum(['1', '2', '4'])),
  })
  .refine(({ TransactionID, OriginalConversationID }) => Boolean(TransactionID) || Boolean(OriginalConversationID), {
    path: ['TransactionID'],
  });

const accountBalance = z.object({
  ...command,
  CommandID: z.literal('AccountBalance'),
  PartyA: text,
  IdentifierType: text.pipe(z.enum(['2', '4'])),
});

const reversal = z.object({
  ...command,
  CommandID: z.literal('TransactionReversal'),
  TransactionID: required,
  Amount: wholeAmount,
  ReceiverParty: text,
  // Daraja's spelling. Its documents name 11, and its examples 4.
  RecieverIdentifierType: text.pipe(z.enum(['4', '11'])),
});

const nameLookUp = z.object({
  header: z.object({ requestID: required, timestamp: text }),
  body: z.object({ msisdn: phone, shortcode: text }),
});

const pull = z.object({
  ShortCode: text,
  StartDate: z.string(),
  EndDate: z.string(),
  OffSetValue: text.pipe(z.string().regex(/^\d{1,9}$/)),
});

export type DarajaStkPush = z.infer<typeof stkPush>;
export type DarajaB2c = z.infer<typeof b2c>;
export type DarajaStatusQuery = z.infer<typeof transactionStatus>;
export type DarajaReversal = z.infer<typeof reversal>;
export type DarajaPull = z.infer<typeof pull>;
/** The common fields of the requests that Daraja answers later, at an address in the request. */
export type DarajaCommand = z.infer<z.ZodObject<typeof command>>;

export const readStkPush = reader(stkPush);
export const readStkQuery = reader(stkQuery);
export const readB2c = reader(b2c);
export const readTransactionStatus = reader(transactionStatus);
export const readAccountBalance = reader(accountBalance);
export const readReversal = reader(reversal);
export const readNameLookUp = reader(nameLookUp);
export const readPull = reader(pull);

function reader<T>(schema: z.ZodType<T>): (body: unknown) => DarajaRead<T> {
  return (body) => {
    const parsed = schema.safeParse(body);
    if (parsed.success) return { request: parsed.data };
    const field = parsed.error.issues[0]?.path.at(-1);
    return { wrong: field === undefined ? null : String(field) };
  };
}

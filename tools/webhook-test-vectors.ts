// Signed and mis-signed webhooks for receivers in any language: what is to be accepted, what rejected, and why.
import { signatureHeader } from '../src/security/webhook-signature.ts';

export type WebhookTestVector = {
  readonly name: string;
  readonly secret: string;
  /** The receiver's clock: Unix seconds. */
  readonly now: number;
  /** The value of `Malipo-Signature`. */
  readonly header: string;
  /** The received bytes are these in UTF-8. */
  readonly body: string;
  readonly valid: boolean;
  readonly why: string;
};

const ABOUT =
  'Webhooks as a receiver meets them. For each: with the signing secret `secret`, at Unix time `now`, a delivery with the ' +
  'header `Malipo-Signature: <header>` and the UTF-8 bytes of `body` is to be accepted when `valid` is true and answered ' +
  'with 400 when it is not. The tolerance is 300 seconds. The secrets are of no endpoint. Made by `npm run docs`; do not ' +
  'edit by hand.';

const SECRET = 'whsec_bm90IGEgc2VjcmV0OiBvZiBhIHRlc3QgdmVjdG9yIDE';
const OLD_SECRET = 'whsec_bm90IGEgc2VjcmV0OiBvZiBhIHRlc3QgdmVjdG9yIDA';
const OTHER_SECRET = 'whsec_bm90IGEgc2VjcmV0OiBvZiBhIHRlc3QgdmVjdG9yIDk';
const NOW = 1_767_225_600;
const BODY =
  '{"id":"evt_01kdvcg000000000000000000a","type":"collection.succeeded","created_at":"2026-01-01T00:00:00.000Z",' +
  '"environment":"test","data":{"object":{"id":"col_01kdvcfz00000000000000000a","state":"succeeded","amount":5000,' +
  '"currency":"UGX","reference":"INV-1"},"previous_state":"prompted"}}';

type Case = Partial<Pick<WebhookTestVector, 'header' | 'body' | 'now' | 'secret'>> &
  Pick<WebhookTestVector, 'name' | 'why'>;

/** The file's text. */
export function webhookTestVectors(): string {
  const vectors = [
    ...accepted().map((vector) => complete(vector, true)),
    ...rejected().map((vector) => complete(vector, false)),
  ];
  return `${JSON.stringify({ about: ABOUT, tolerance_seconds: 300, vectors }, null, 2)}\n`;
}

function complete(vector: Case, valid: boolean): WebhookTestVector {
  const { name, why, ...rest } = vector;
  const whole = { secret: SECRET, now: NOW, body: BODY, ...rest };
  return { name, valid, why, ...whole, header: whole.header ?? signed(whole.body) };
}

function signed(body: string, secrets: readonly string[] = [SECRET], at = NOW): string {
  return signatureHeader(Buffer.from(body), secrets, at);
}

/** The header with `change` made to the hex of its one signature. */
function withHex(change: (hex: string) => string): string {
  return signed(BODY).replace(/(?<=v1=).*/, change);
}

function accepted(): Case[] {
  const nonAscii = BODY.replace('INV-1', 'Café Ñandú № 7 – 茶 🍵');
  const spaced = `\n${JSON.stringify(JSON.parse(BODY), null, 2)}\r\n\t `;
  return [
    { name: 'as sent', why: 'Signed with this secret, now, over these bytes.' },
    { name: 'sent 300 s ago', now: NOW + 300, why: 'The tolerance is not exceeded.' },
    { name: 'from 300 s ahead', now: NOW - 300, why: 'The tolerance counts both ways.' },
    { name: 'in UTF-8', body: nonAscii, why: 'Bytes are signed, not characters.' },
    { name: 'with white space', body: spaced, why: 'White space is signed like any byte, at both ends too.' },
    { name: 'of an empty body', body: '', why: 'The signature is over "<t>." alone.' },
    {
      name: 'two v1, the second fits',
      header: signed(BODY, [OTHER_SECRET, SECRET]),
      why: 'While a secret is rotated both sign, the new one first. This receiver still has the old one.',
    },
    {
      name: 'two v1, the first fits',
      header: signed(BODY, [SECRET, OLD_SECRET]),
      why: 'The same for a receiver that has the new one already.',
    },
    {
      name: 'with a pair of another name',
      header: `${signed(BODY)},v2=later`,
      why: 'Names that you do not know are not for you.',
    },
    {
      name: 'with v1 before t',
      header: signed(BODY).split(',').reverse().join(','),
      why: 'Pairs are found by name, not by place.',
    },
  ];
}

function rejected(): Case[] {
  const reserialised = JSON.stringify(JSON.parse(BODY), null, 1);
  const [t = '', v1 = ''] = signed(BODY).split(',');
  return [
    { name: 'signed with another secret', header: signed(BODY, [OTHER_SECRET]), why: 'No v1 is of this secret.' },
    {
      name: 'an altered body',
      header: signed(BODY),
      body: BODY.replace('"amount":5000', '"amount":9000'),
      why: 'One digit is not what was signed.',
    },
    {
      name: 'a body parsed and written again',
      header: signed(BODY),
      body: reserialised,
      why: 'The same value in other bytes. Verify what was received, before it is parsed.',
    },
    { name: 'a body with a line end added', header: signed(BODY), body: `${BODY}\n`, why: 'One byte more.' },
    { name: 'an empty body', header: signed(BODY), body: '', why: 'The body is missing.' },
    { name: 'sent 301 s ago', now: NOW + 301, why: 'Too old: it may be a replay of what somebody recorded.' },
    { name: 'from 301 s ahead', now: NOW - 301, why: 'Too far in the future.' },
    { name: 'an altered t', header: `t=${NOW + 1},${v1}`, why: 'The time is signed too.' },
    { name: 'no t', header: v1, why: 't is missing.' },
    { name: 'no v1', header: t, why: 'v1 is missing.' },
    { name: 'an empty header', header: '', why: 'Both are missing.' },
    {
      name: 'only a pair of another name',
      header: `${t},v0=${v1.slice('v1='.length)}`,
      why: 'v1 is missing: the signature counts under its own name only.',
    },
    { name: 't is no number', header: `t=now,${v1}`, why: 't must be digits.' },
    { name: 't is a number in another form', header: `t=${NOW}.0,${v1}`, why: 't must be digits.' },
    {
      name: 't has thousands of digits',
      header: `t=${'9'.repeat(5000)},${v1}`,
      why: 'Far in the future, and no error.',
    },
    { name: 't is empty', header: `t=,${v1}`, why: 't must be digits; an empty one is not 0.' },
    { name: 'v1 is empty', header: `${t},v1=`, why: 'Another length than the expected one.' },
    { name: 'v1 is shorter', header: withHex((hex) => hex.slice(0, -1)), why: 'Another length than the expected one.' },
    { name: 'v1 is longer', header: withHex((hex) => `${hex}0`), why: 'Another length than the expected one.' },
    {
      name: 'v1 has something after another equals sign',
      header: withHex((hex) => `${hex}=0`),
      why: 'A value goes on to the next comma.',
    },
    { name: 'v1 in upper-case hex', header: withHex((hex) => hex.toUpperCase()), why: 'v1 is lower-case hex.' },
    {
      name: 'v1 with a letter beyond ASCII',
      header: withHex((hex) => `é${hex.slice(1)}`),
      why: 'As many characters, and not as many bytes: a comparison that throws here is a way to stop a receiver.',
    },
    {
      name: 'two v1, neither fits',
      header: signed(BODY, [OTHER_SECRET, OLD_SECRET]),
      why: 'Neither is of this secret.',
    },
  ];
}

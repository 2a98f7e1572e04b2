// Phone numbers of mobile-money accounts: digits only, country code first.
import parsePhoneNumber from 'libphonenumber-js/mobile';

export type Phone = {
  /** International digits without plus sign (E.164 less the plus). */
  readonly digits: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly nationalNumber: string;
};

/** The required form, with an example, for error messages. */
export const PHONE_FORM = 'digits only, country code first, no plus sign and no leading zero, for example 256772123456';

let last: { readonly text: string; readonly phone: Phone | null } = { text: '', phone: null };

/** The mobile phone that `text` names, or null when it is not one in the required form. A landline gives null. */
export function parsePhone(text: string): Phone | null {
  // A request's phone is checked, and then led to its operator.
  if (last.text !== text) last = { text, phone: readPhone(text) };
  return last.phone;
}

function readPhone(text: string): Phone | null {
  if (!/^[1-9][0-9]{7,14}$/.test(text)) return null;
  const parsed = parsePhoneNumber(`+${text}`);
  // isValid() of the "mobile" metadata is true for mobile numbers only.
  if (!parsed?.isValid() || parsed.country === undefined) return null;
  // The library accepts a trunk zero after the country code; an operator does not.
  if (parsed.number !== `+${text}`) return null;
  return { digits: text, country: parsed.country, nationalNumber: parsed.nationalNumber };
}

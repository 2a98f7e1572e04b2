// Amounts, times and numbers as payers read them.
import { toDecimalString, type Money } from '../../domain/money.ts';
import { countriesOf, type Coverage } from '../../domain/payments/operator-catalogue.ts';
import { parsePhone } from '../../domain/payments/phone.ts';
import type { Currency } from '../../domain/money.ts';
import { COUNTRIES } from './operator-instructions.ts';
import type { Language } from './texts.ts';

const MARKS: Readonly<Record<Language, { readonly group: string; readonly decimal: string }>> = {
  en: { group: ',', decimal: '.' },
  fr: { group: '\u00a0', decimal: ',' },
  sw: { group: ',', decimal: '.' },
  lg: { group: ',', decimal: '.' },
};
const SHOWN_DIGITS = 3;
const ANY_EXAMPLE = '256772123456';

/** Every digit of the amount: nothing is rounded. */
export function amountIn(language: Language, money: Money): string {
  const { group, decimal } = MARKS[language];
  const [whole = '', cents] = toDecimalString(money).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group);
  return `${money.currency}\u00a0${cents === undefined ? grouped : `${grouped}${decimal}${cents}`}`;
}

/** With the time zone in which it is shown. */
export function timeIn(language: Language, at: Date, timeZone: string): string {
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'medium', timeZone }).format(at);
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(at);
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${date} (${offset.replace('GMT', 'UTC')})`;
}

/** The time zone of the country where the currency is paid; UTC if there are several. */
export function timeZoneOf(currency: Currency, coverage: Coverage): string {
  const [only, another] = countriesOf(currency, coverage);
  return (another === undefined ? COUNTRIES[only ?? '']?.timeZone : undefined) ?? 'UTC';
}

export function timeZoneOfPhone(phone: string): string {
  return COUNTRIES[parsePhone(phone)?.country ?? '']?.timeZone ?? 'UTC';
}

/** A number that can be typed into the form. */
export function examplePhone(currency: Currency, coverage: Coverage): string {
  return exampleOf(countriesOf(currency, coverage)[0] ?? '');
}

export function exampleOf(country: string): string {
  return COUNTRIES[country]?.example ?? ANY_EXAMPLE;
}

/** Shows enough digits for the owner of the number to recognise it, and too few for anybody else. */
export function maskedPhone(phone: string): string {
  return `••• ${phone.slice(-SHOWN_DIGITS)}`;
}

export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

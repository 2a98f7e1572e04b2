// A visit to a checkout: the checkout in its address, the language, and the values of its texts.
import type { PaymentDeps } from '../route.ts';
import type { ApiContext } from '../context.ts';
import type { CheckoutForPayer } from '../../operations/payments/read-checkouts.ts';
import { OPERATORS, operatorsCollecting } from '../../domain/payments/operator-catalogue.ts';
import type { Page } from './render.ts';
import { LANGUAGES, languageOf, type Language, type Values } from './texts.ts';
import { amountIn, examplePhone } from './words.ts';

export type PayDeps = Pick<PaymentDeps, 'db' | 'environment' | 'publicUrl' | 'payments' | 'refusalOfWork' | 'offer'> & {
  /** The most attempts at checkouts from an address in a quarter of an hour; 0: no limit. */
  readonly checkoutAttemptsPerAddress: number;
};

export type PageContext = Pick<Page, 'language' | 'chosenLanguage' | 'isTest'>;

/** The language in the address or the form, or else the first language of the browser that has texts. */
export function pageContextOf(
  ctx: ApiContext,
  { environment }: Pick<PayDeps, 'environment'>,
  named: unknown,
): PageContext {
  const chosenLanguage = languageOf(named);
  return { chosenLanguage, language: chosenLanguage ?? preferredLanguage(ctx), isTest: environment === 'test' };
}

function preferredLanguage(ctx: ApiContext): Language {
  ctx.vary('Accept-Language');
  return languageOf(ctx.acceptsLanguages([...LANGUAGES])) ?? 'en';
}

/** The values for every text about this checkout. Of the merchant's own words only the name is among them. */
export function valuesOf(
  { checkout, merchantName }: CheckoutForPayer,
  { language }: PageContext,
  { payments: { coverage } }: PayDeps,
): Values {
  return {
    merchant: merchantName,
    amount: amountIn(language, checkout),
    host: checkout.returnUrl === null ? '' : new URL(checkout.returnUrl).host,
    example: examplePhone(checkout.currency, coverage),
    operators: operatorsCollecting(checkout, coverage)
      .map((operator) => OPERATORS[operator].name)
      .join(', '),
  };
}

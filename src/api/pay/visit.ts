// A visit to a checkout: what its address names, in which language, and the words that its pages are made of.
import type { PaymentDeps } from '../route.ts';
import type { ApiContext } from '../context.ts';
import type { CheckoutForPayer } from '../../operations/payments/read-checkouts.ts';
import { OPERATORS, operatorsCollecting } from '../../domain/payments/operator-catalogue.ts';
import type { Page } from './render.ts';
import { LANGUAGES, languageOf, type Language, type Values } from './texts.ts';
import { amountIn, examplePhone } from './words.ts';

export type PayDeps = Pick<
  PaymentDeps,
  'db' | 'environment' | 'publicUrl' | 'payments' | 'isAcceptingWork' | 'offer'
> & {
  /** The attempts at checkouts in a quarter of an hour; 0: any number. */
  readonly checkoutAttemptsPerAddress: number;
};

export type Spoken = Pick<Page, 'language' | 'chosenLanguage' | 'isTest'>;

/** The language that the address or the form names, or the first of the browser's that we have. */
export function spokenTo(ctx: ApiContext, { environment }: Pick<PayDeps, 'environment'>, named: unknown): Spoken {
  const chosenLanguage = languageOf(named);
  return { chosenLanguage, language: chosenLanguage ?? preferredLanguage(ctx), isTest: environment === 'test' };
}

function preferredLanguage(ctx: ApiContext): Language {
  ctx.vary('Accept-Language');
  return languageOf(ctx.acceptsLanguages([...LANGUAGES])) ?? 'en';
}

/** What every text about this checkout may name. Of what the merchant wrote, that is their name alone: a text is the service's own words. */
export function valuesOf(
  { checkout, merchantName }: CheckoutForPayer,
  { language }: Spoken,
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

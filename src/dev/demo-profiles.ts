// The merchants of the demonstration: one in each currency, with a payer of each of its operators.
import type { Currency } from '../domain/money.ts';

export type DemoPayer = { readonly phone: string; readonly operator: string; readonly reference: string };

export type DemoProfile = {
  readonly merchantName: string;
  readonly country: string;
  readonly currency: Currency;
  /** The file in the data folder with what the merchant needs to log in. */
  readonly file: string;
  /** What the names of its settings in demo.env begin with. */
  readonly settingsPrefix: string;
  /** Its webhook receiver among the listeners of the start, because a receiver has one secret. */
  readonly receiver: 'receiver' | 'kesReceiver';
  readonly receiverName: string;
  /** The sandbox's table has no row for their last digits, so their collections are paid. */
  readonly payers: readonly [DemoPayer, ...DemoPayer[]];
};

const UGANDA: DemoProfile = {
  merchantName: 'Demo merchant',
  country: 'Uganda',
  currency: 'UGX',
  file: 'demo-merchant.json',
  settingsPrefix: 'MALIPO_',
  receiver: 'receiver',
  receiverName: 'the webhook receiver',
  payers: [
    { phone: '256772000100', operator: 'MTN MoMo', reference: 'DEMO-1' },
    { phone: '256752000100', operator: 'Airtel Money', reference: 'DEMO-2' },
  ],
};

const KENYA: DemoProfile = {
  merchantName: 'Demo merchant in Kenya',
  country: 'Kenya',
  currency: 'KES',
  file: 'demo-merchant-kes.json',
  settingsPrefix: 'MALIPO_KES_',
  receiver: 'kesReceiver',
  receiverName: 'the Kenyan webhook receiver',
  payers: [{ phone: '254722000100', operator: 'M-Pesa', reference: 'DEMO-3' }],
};

export const DEMO_PROFILES = [UGANDA, KENYA] as const;

// How operators are called by people.

export const OPERATOR_NAMES: Readonly<Record<string, string>> = {
  'mtn-momo': 'MTN MoMo',
  'airtel-money': 'Airtel Money',
  daraja: 'M-Pesa',
};

// Who holds the account of a phone at the sandbox operator: a name by its digits, so that the same phone has the same one for ever.

const GIVEN = ['JANE', 'PETER', 'AISHA', 'JOHN', 'MERCY', 'DAVID', 'SARAH', 'MOSES', 'RUTH', 'IBRAHIM'];
const FAMILY = ['NAKATO', 'OKELLO', 'NAMUTEBI', 'MUGISHA', 'ACHIENG', 'KATO', 'ATIM', 'SSALI', 'AKELLO', 'WERE'];

/** Payouts to these fail, because there is no such account: see the outcome table. */
const WITHOUT_ACCOUNT = '001';

/** Null: nobody does. */
export function accountHolder(phone: string): { readonly given: string; readonly family: string } | null {
  if (!/^[1-9]\d{7,14}$/.test(phone) || phone.endsWith(WITHOUT_ACCOUNT)) return null;
  const given = GIVEN[Number(phone.at(-1))] ?? '';
  const family = FAMILY[Number(phone.at(-2))] ?? '';
  return { given, family };
}

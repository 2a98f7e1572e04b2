// The holder of a phone's account at the sandbox operator: the digits choose the name, so that a phone always has the same name.

const GIVEN = ['JANE', 'PETER', 'AISHA', 'JOHN', 'MERCY', 'DAVID', 'SARAH', 'MOSES', 'RUTH', 'IBRAHIM'];
const FAMILY = ['NAKATO', 'OKELLO', 'NAMUTEBI', 'MUGISHA', 'ACHIENG', 'KATO', 'ATIM', 'SSALI', 'AKELLO', 'WERE'];

/** Payouts to these phones fail, because they have no account: see the outcome table. */
const WITHOUT_ACCOUNT = '001';

/** Null if the phone has no account. */
export function accountHolder(phone: string): { readonly given: string; readonly family: string } | null {
  if (!/^[1-9]\d{7,14}$/.test(phone) || phone.endsWith(WITHOUT_ACCOUNT)) return null;
  const given = GIVEN[Number(phone.at(-1))] ?? '';
  const family = FAMILY[Number(phone.at(-2))] ?? '';
  return { given, family };
}

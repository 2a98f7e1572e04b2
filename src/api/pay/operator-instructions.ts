// The instructions for payers of each operator and country, as data.
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';

type Country = {
  readonly timeZone: string;
  /** What to dial for the list of waiting requests. Absent if uncertain: the text then names the menu or app. */
  readonly approvalsUssd: Readonly<Partial<Record<OperatorId, string>>>;
  /** A number as people there write it, for the hint. */
  readonly example: string;
};

/** By ISO 3166-1 alpha-2: every country of the operator catalogue. */
export const COUNTRIES: Readonly<Record<string, Country>> = {
  UG: { timeZone: 'Africa/Kampala', approvalsUssd: { 'mtn-momo': '*165#' }, example: '0772 123456' },
  KE: { timeZone: 'Africa/Nairobi', approvalsUssd: {}, example: '0733 123456' },
  TZ: { timeZone: 'Africa/Dar_es_Salaam', approvalsUssd: {}, example: '0784 123 456' },
  RW: { timeZone: 'Africa/Kigali', approvalsUssd: { 'mtn-momo': '*182*7*1#' }, example: '078 812 3456' },
  CM: { timeZone: 'Africa/Douala', approvalsUssd: {}, example: '6 70 12 34 56' },
  CI: { timeZone: 'Africa/Abidjan', approvalsUssd: {}, example: '05 04 12 34 56' },
  BJ: { timeZone: 'Africa/Porto-Novo', approvalsUssd: {}, example: '01 97 12 34 56' },
  GH: { timeZone: 'Africa/Accra', approvalsUssd: { 'mtn-momo': '*170#' }, example: '024 123 4567' },
  ZM: { timeZone: 'Africa/Lusaka', approvalsUssd: {}, example: '096 123 4567' },
};

/** What a payer of the operator dials there for waiting requests; null if uncertain. */
export function approvalsUssd(operator: OperatorId, country: string): string | null {
  return COUNTRIES[country]?.approvalsUssd[operator] ?? null;
}

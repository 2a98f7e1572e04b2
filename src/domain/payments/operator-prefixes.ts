// The national prefixes of each operator's numbers, with their source, and the setting that changes them.
//
// A prefix is only a guess at the operator: numbers are ported between networks. A request may name its operator.

export type PrefixList = {
  readonly prefixes: readonly string[];
  readonly source: string;
  /** When the source listed these prefixes, as `YYYY-MM`. */
  readonly asOf: string;
};

function fromCarrierMap(prefixes: string): PrefixList {
  return { prefixes: prefixes.split(' '), source: 'carrier map of libphonenumber 9.0.43', asOf: '2026-11' };
}

/** By country (ISO 3166-1 alpha-2). */
export const MTN_PREFIXES = {
  UG: fromCarrierMap('7241 7242 7243 7244 7245 7246 7247 7248 7249 737 76 77 78 790 791 792 793 794 795 796 797'),
  RW: fromCarrierMap('78 79'),
  CM: fromCarrierMap('67 650 651 652 653 654 680 681 682 683'),
  CI: fromCarrierMap('05'),
  BJ: fromCarrierMap('0142 0146 0150 0151 0152 0153 0154 0156 0157 0159 0161 0162 0166 0167 0169 0190 0191 0196 0197'),
  GH: fromCarrierMap('24 25 53 54 55 59'),
  ZM: fromCarrierMap('56 76 96'),
} as const;

export const AIRTEL_PREFIXES = {
  UG: fromCarrierMap('70 730 731 732 74 75'),
  KE: fromCarrierMap('10 135 136 137 138 139 73 750 751 752 753 754 755 756 760 762 763 764 765 766 767 78'),
  TZ: fromCarrierMap('60 66 68 69 78'),
  RW: fromCarrierMap('72 73'),
  ZM: fromCarrierMap('57 77 97'),
} as const;

export const SAFARICOM_PREFIXES = {
  KE: fromCarrierMap('11 14 18 70 71 72 740 741 742 743 745 746 748 749 757 758 759 768 769 79'),
} as const;

/** A deployment's change of the prefixes of one operator in one country. */
export type PrefixChange = {
  readonly operator: string;
  readonly country: string;
  /** Whether the prefixes are added to the catalogue's prefixes, or replace them. */
  readonly kind: 'added' | 'replaced';
  readonly prefixes: readonly string[];
};

/**
 * Reads `mtn-momo/UG+=71 75, mtn-momo/ZM=56 76 96`: `+=` adds the prefixes, `=` replaces all prefixes. Null if an entry has another
 * form, or two entries are about the same market.
 */
export function readPrefixChanges(text: string): readonly PrefixChange[] | null {
  const changes = text.split(',').map(readChange);
  const known = changes.filter((change) => change !== null);
  const markets = new Set(known.map(({ operator, country }) => `${operator}/${country}`));
  return markets.size === changes.length ? known : null;
}

function readChange(entry: string): PrefixChange | null {
  const [, operator = '', country = '', add, list = ''] =
    /^\s*([a-z0-9-]+)\/([A-Z]{2})\s*(\+?)=\s*([0-9]{2,8}(?:\s+[0-9]{2,8})*)\s*$/.exec(entry) ?? [];
  if (operator === '') return null;
  return { operator, country, kind: add === '+' ? 'added' : 'replaced', prefixes: list.split(/\s+/) };
}

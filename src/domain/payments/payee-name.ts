// The name under which an operator knows the payee of a payout, and whether it is the name that the maker typed. Pure.

/** The operator's answer to a name query, and the time of the query. */
export type PayeeName = {
  /** As the operator wrote the name, perhaps with masked parts; null: the operator has no name for the number. */
  readonly name: string | null;
  readonly askedAt: Date;
};

/** Longer names are cut when they are read. */
export const LONGEST_PAYEE_NAME = 200;

/**
 * Whether each word of the typed name is a word of the operator's name, in any order. Capitals, accents and marks between words do
 * not count. A typed initial matches a word that begins with it. A masked word, such as `JO***`, matches each word that begins with `JO`.
 */
export function isSameName(typed: string, name: string): boolean {
  const theirs = wordsOf(name);
  return wordsOf(typed).every((word) => theirs.some((their) => isSameWord(word, their)));
}

function isSameWord(typed: string, their: string): boolean {
  const [seen = ''] = their.split('*', 1);
  if (seen !== their) return seen !== '' && typed.startsWith(seen);
  return typed === their || (typed.length === 1 && their.startsWith(typed));
}

function wordsOf(name: string): string[] {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain
    .replace(/['’]/g, '')
    .split(/[^\p{L}\p{N}*]+/u)
    .filter((word) => word !== '');
}

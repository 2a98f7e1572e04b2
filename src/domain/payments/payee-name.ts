// The name under which an operator knows the payee of a payout, and whether it is the name that the maker typed. Pure.

/** What the operator said of the name of a payee, and when it was asked. */
export type PayeeName = {
  /** As the operator wrote it, parts of it perhaps masked; null: it has no name for the number. */
  readonly name: string | null;
  readonly askedAt: Date;
};

/** Longer names are cut where they are read. */
export const LONGEST_PAYEE_NAME = 200;

/**
 * Whether each word of the typed name is a word of the operator's, in any order. Capitals, accents and marks between words do not
 * count. An initial stands for a word that begins with it, and a word that the operator masks, as `JO***`, for each that begins so.
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

// Easily guessed passwords: common ones and their variations, and those made of words that an attacker knows.
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/**
 * The fewest guesses, as a power of ten, that a new password must withstand, likeliest first. With a stolen hash and a
 * hundred guesses a second, they take years; through the attempt limits, far longer.
 */
const MIN_GUESSES_LOG10 = 10;
// Further characters weaken no password, and they slow the estimate.
const ESTIMATED_LENGTH = 64;
/** Names of the service and of the operators, as people write them. */
const SERVICE_NAMES = ['malipo', 'mtn', 'momo', 'airtel', 'mpesa', 'orange', 'vodafone', 'mobile', 'money'];
const MIN_WORD_LENGTH = 3;
const LOOKALIKES: Readonly<Record<string, string>> = {
  a: 'a4@',
  b: 'b8',
  e: 'e3',
  g: 'g69',
  i: 'i1!|l',
  l: 'l1!|i',
  o: 'o0',
  s: 's5$',
  t: 't7+',
  z: 'z2',
};
const ONE_WORD = /^\P{L}*\p{L}+\P{L}*$/u;

let estimator: ZxcvbnFactory | null = null;

// Created at the first use: unpacking the dictionary takes longer than a process of the command line runs.
function estimate(): ZxcvbnFactory {
  return (estimator ??= new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs }));
}

/**
 * Whether an attacker who knows `names` finds the password within ten thousand million guesses. These are the names and
 * e-mails of the person and the merchant; their parts, and the names of the service and the operators, count as common
 * passwords. Beside such a word, and around any single word, digits and punctuation count for nothing, because years
 * and full stops are what people add: the other letters must be hard enough to guess alone.
 */
export function isEasilyGuessed(password: string, names: readonly string[]): boolean {
  const known = [...SERVICE_NAMES, ...names].flatMap(wordsOf).sort((a, b) => b.length - a.length);
  const text = password.normalize('NFC').slice(0, ESTIMATED_LENGTH);
  if (isWeak(text, known)) return true;
  const folded = fold(text);
  const others = known.reduce((rest, word) => rest.replace(spellingsOf(word), ' '), folded);
  return (others !== folded || ONE_WORD.test(folded)) && isWeak(others.replace(/\P{L}+/gu, ''), known);
}

function isWeak(text: string, known: string[]): boolean {
  return estimate().check(text, known).guessesLog10 < MIN_GUESSES_LOG10;
}

/** The words of a name, and all of them joined. */
function wordsOf(name: string): string[] {
  const words = fold(name).split(/[^\p{L}\p{N}]+/u);
  return [words.join(''), ...words].filter((word) => word.length >= MIN_WORD_LENGTH);
}

/** Without case and marks on letters. */
function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

/** Finds the word, which consists of letters and digits, also with lookalikes of its letters. */
function spellingsOf(word: string): RegExp {
  return new RegExp(
    word.replace(/[a-z]/g, (letter) => (letter in LOOKALIKES ? `[${LOOKALIKES[letter]}]` : letter)),
    'gu',
  );
}

// Passwords that are guessed first: common ones and their variations, repetitions, sequences, and a person's own names.
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/**
 * The fewest guesses, as a power of ten, that a new password must take an attacker who tries the likeliest first. Ten
 * thousand guesses a day, far more than the attempt limits allow, would take 27 years.
 */
const MIN_GUESSES_LOG10 = 8;
// More of a long password makes it no worse, and the estimate takes longer.
const ESTIMATED_LENGTH = 64;
const OWN_NAMES = ['malipo', 'momo', 'mpesa', 'mobilemoney'];

let estimator: ZxcvbnFactory | null = null;

// Made at the first use: unpacking the dictionary takes longer than a process of the command line has.
function estimate(): ZxcvbnFactory {
  return (estimator ??= new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs }));
}

/**
 * Whether an attacker finds the password among the first hundred million that they would try. `names` are those of the
 * person and the merchant, which are tried first: names, e-mail addresses and their parts count as common passwords.
 */
export function isEasilyGuessed(password: string, names: readonly string[]): boolean {
  const text = password.normalize('NFC').slice(0, ESTIMATED_LENGTH);
  return estimate().check(text, [...OWN_NAMES, ...names.flatMap(partsOf)]).guessesLog10 < MIN_GUESSES_LOG10;
}

/** A name as a whole, without spaces, and its words of three letters and more. */
function partsOf(name: string): string[] {
  const whole = name.normalize('NFC').toLowerCase();
  const words = whole.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length >= 3);
  return [...new Set([whole, whole.replace(/[^\p{L}\p{N}]+/gu, ''), ...words])];
}

// Which characters a line of text may have, where people compare and decide by what they see.

// Control characters, and all that has no glyph of its own or changes the order in which the others are read; line and
// paragraph separators, halves of surrogate pairs, and code points that are no characters.
const REFUSED = '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}';
const VISIBLE_LINE = new RegExp(`^[^${REFUSED}]*$`, 'u');
const REFUSED_CHARACTER = new RegExp(`[${REFUSED}]`, 'u');
const REFUSED_CHARACTERS = new RegExp(`[${REFUSED}]`, 'gu');

/** Whether the text is of 1 to `max` characters, all of them visible or spaces, and stands on one line. */
export function isVisibleLine(text: string, max: number): boolean {
  return text.length > 0 && VISIBLE_LINE.test(text) && hasAtMost(text, max);
}

/** Whether the text has no more than so many characters, where a pair of surrogates is one. */
export function hasAtMost(text: string, max: number): boolean {
  return text.length <= max || (text.length <= 2 * max && Array.from(text).length <= max);
}

/** The text with every character that nobody would see, or that would break the line, written as its number. */
export function withoutInvisible(text: string): string {
  return text.replace(REFUSED_CHARACTERS, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The value as JSON on one line, in which nothing is invisible: a program reads the same from it as without that. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(REFUSED_CHARACTERS, (character) =>
    Array.from({ length: character.length }, (_, unit) => escaped(character.charCodeAt(unit))).join(''),
  );
}

/** The code unit as JSON and regular expressions write it. */
function escaped(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

// Marks by which what follows is read from right to left, also digits, or as they stand. Beside them, two numbers change places.
const TURNING = '\\u061c\\u200f\\u202b\\u202d\\u202e\\u2067';
const TURNING_MARK = new RegExp(`[${TURNING}]`, 'u');
const HARMLESS_MARKS = new RegExp(`(?![${TURNING}])\\p{Default_Ignorable_Code_Point}`, 'gu');

/**
 * What was typed or pasted, without space around it and without the marks, seen by nobody, that pages put around numbers. Marks that
 * turn the direction stay, so that nobody reads another order of characters than the person sees.
 */
export function pastedText(text: string): string {
  return text.replaceAll(HARMLESS_MARKS, '').trim();
}

/** Whether the order in which the characters are seen may be another one than that in which they are written. */
export function hasTurningMark(text: string): boolean {
  return TURNING_MARK.test(text);
}

export const TURNED = 'It has an invisible mark that changes the order of its characters. Type it by hand.';

/**
 * The refused characters of the Basic Multilingual Plane as the inside of a character class that every dialect of
 * regular expressions reads, for documents; without halves of surrogate pairs, which some dialects see everywhere.
 */
export function refusedCharacterClass(): string {
  const ranges: [number, number][] = [];
  for (let code = 0; code <= 0xffff; code++) {
    const isHalf = code >= 0xd800 && code <= 0xdfff;
    if (isHalf || !REFUSED_CHARACTER.test(String.fromCharCode(code))) continue;
    const last = ranges.at(-1);
    if (last?.[1] === code - 1) last[1] = code;
    else ranges.push([code, code]);
  }
  return ranges.map(([from, to]) => escaped(from) + (to > from ? `-${escaped(to)}` : '')).join('');
}

// The characters that a line of text may have if people compare and decide by what they see.

// Control characters, and all that have no glyph of their own or change the reading order of others; line and paragraph
// separators, halves of surrogate pairs, and code points that are no characters.
const REFUSED = '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}';
const VISIBLE_LINE = new RegExp(`^[^${REFUSED}]*$`, 'u');
const REFUSED_CHARACTER = new RegExp(`[${REFUSED}]`, 'u');
const REFUSED_CHARACTERS = new RegExp(`[${REFUSED}]`, 'gu');

/** Whether the text has 1 to `max` characters on one line, all of them visible or spaces. */
export function isVisibleLine(text: string, max: number): boolean {
  return text.length > 0 && VISIBLE_LINE.test(text) && hasAtMost(text, max);
}

/** Whether the text has at most `max` characters, where a surrogate pair is one. */
export function hasAtMost(text: string, max: number): boolean {
  return text.length <= max || (text.length <= 2 * max && Array.from(text).length <= max);
}

/** The text with every character that is invisible, or breaks the line, written as its number. */
export function withoutInvisible(text: string): string {
  return text.replace(REFUSED_CHARACTERS, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The value as JSON on one line without invisible characters. A program reads the same value from it. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(REFUSED_CHARACTERS, (character) =>
    Array.from({ length: character.length }, (_, unit) => escaped(character.charCodeAt(unit))).join(''),
  );
}

/** The code unit as JSON and regular expressions write it. */
function escaped(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

// Marks that set the direction of the following text, digits included. Beside them, two numbers can change places.
const TURNING = '\\u061c\\u200f\\u202b\\u202d\\u202e\\u2067';
const TURNING_MARK = new RegExp(`[${TURNING}]`, 'u');
const HARMLESS_MARKS = new RegExp(`(?![${TURNING}])\\p{Default_Ignorable_Code_Point}`, 'gu');

/**
 * The typed or pasted text, without surrounding space and without the invisible marks that pages put around numbers.
 * Marks that change the direction stay, so that the stored order of characters is the order that the person sees.
 */
export function pastedText(text: string): string {
  return text.replaceAll(HARMLESS_MARKS, '').trim();
}

/** Whether the visible order of the characters may differ from their written order. */
export function hasTurningMark(text: string): boolean {
  return TURNING_MARK.test(text);
}

export const TURNED = 'It has an invisible mark that changes the order of its characters. Type it by hand.';

/**
 * The refused characters of the Basic Multilingual Plane as the content of a character class that every regular
 * expression dialect reads, for documents; without halves of surrogate pairs, which some dialects match everywhere.
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

// Converts a merchant's free text into the short note that an operator shows on a handset.

// MTN responds 400 to a note with an apostrophe or `&`, and publishes no complete list. Both have a meaning in XML, which wallet
// platforms use, as have `"`, `<` and `>`: none of the five is sent, in any form that keyboards and word processors produce.
const QUOTES = /['’‘‛`´ʼ＇"“”„‟＂]/g;
const MARKUP_AND_BLANKS = /[&＆﹠<＜﹤>＞﹥\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Zl}\p{Zp}]+/gu;

/**
 * Returns one line of at most `maxLength` UTF-16 units without control characters, half characters and the characters of
 * markup: `& < > " '`. Text that is empty after that becomes `fallback`, because operators refuse an empty note.
 */
export function cleanNote(text: string, { maxLength, fallback }: { maxLength: number; fallback: string }): string {
  const line = text.replace(QUOTES, '').replace(MARKUP_AND_BLANKS, ' ').trim();
  return cut(line, maxLength).trimEnd() || fallback;
}

// Cuts between code points, so that no half of a surrogate pair remains.
function cut(line: string, maxLength: number): string {
  if (line.length <= maxLength) return line;
  let kept = '';
  for (const character of line) {
    if (kept.length + character.length > maxLength) break;
    kept += character;
  }
  return kept;
}

// Makes a merchant's free text fit for the short note that an operator shows on a handset.

/**
 * One line of at most `maxLength` UTF-16 units without apostrophes, control characters or half characters. Text that is empty after
 * that becomes `fallback`: an empty note leaves the payer with a prompt that says nothing.
 */
export function cleanNote(text: string, { maxLength, fallback }: { maxLength: number; fallback: string }): string {
  const line = text
    // Apostrophes in every shape a phone keyboard or a word processor makes; MTN answers 400 to the plain one.
    .replace(/['’‘‛`´ʼ＇]/g, '')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return cut(line, maxLength).trimEnd() || fallback;
}

// By code points, so that a cut never leaves half of a surrogate pair.
function cut(line: string, maxLength: number): string {
  if (line.length <= maxLength) return line;
  let kept = '';
  for (const character of line) {
    if (kept.length + character.length > maxLength) break;
    kept += character;
  }
  return kept;
}

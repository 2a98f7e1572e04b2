// Converts a merchant's free text into the short note that an operator shows on a handset.

/**
 * Returns one line of at most `maxLength` UTF-16 units without apostrophes, control characters or half characters. Text
 * that is empty after that becomes `fallback`, because an empty note would leave the payer without information.
 */
export function cleanNote(text: string, { maxLength, fallback }: { maxLength: number; fallback: string }): string {
  const line = text
    // Apostrophes in every form that phone keyboards and word processors produce; MTN responds 400 to the plain one.
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

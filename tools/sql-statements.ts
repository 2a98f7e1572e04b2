// Splits SQL into its statements, in one form: without comments, texts and bodies, in capitals, with single spaces.

// In this order: what begins like another one comes first.
const PARTS = new RegExp(
  [
    /--[^\n]*/, // a comment
    /\/\*[^]*?\*\//,
    /\$([a-z_]*)\$[^]*?\$\1\$/, // the body of a function
    /e'(?:[^'\\]|\\.|'')*'/, // texts
    /'(?:[^']|'')*'/,
    /"[^"]*"/,
    /;/,
    /\s+/,
    /[^-/$e'";\s]+|[^]/,
  ]
    .map(({ source }) => `(?:${source})`)
    .join('|'),
  'gi',
);

export function statementsOf(sql: string): string[] {
  const statements = [''];
  for (const [part] of sql.matchAll(PARTS)) {
    if (part === ';') statements.push('');
    else statements.push((statements.pop() ?? '') + formOf(part));
  }
  return statements
    .map((text) => text.replace(/\s+/g, ' ').replace(/\( /g, '(').replace(/ \)/g, ')').trim())
    .filter((text) => text !== '');
}

function formOf(part: string): string {
  if (part.startsWith('--') || part.startsWith('/*')) return ' ';
  if (/^e?'/i.test(part) && part.length > 1) return `''`;
  if (part.startsWith('$') && part.length > 1) return '$$';
  return part.startsWith('"') ? part : part.toUpperCase();
}

/** The parts between the commas that no bracket holds. */
export function splitAtCommas(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts.push((parts.pop() ?? '') + character);
  }
  return parts.map((part) => part.trim());
}

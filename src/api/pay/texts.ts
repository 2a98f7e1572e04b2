// The languages of the checkout pages, and the choice between them.
import { ENGLISH, type TextKey, type Texts } from './texts-en.ts';
import { FRENCH } from './texts-fr.ts';
import { LUGANDA } from './texts-lg.ts';
import { SWAHILI } from './texts-sw.ts';

export const LANGUAGES = ['en', 'fr', 'sw', 'lg'] as const;
export type Language = (typeof LANGUAGES)[number];

const TEXTS: Readonly<Record<Language, Texts>> = { en: ENGLISH, fr: FRENCH, sw: SWAHILI, lg: LUGANDA };

export type Values = Readonly<Record<string, string>>;

/** The text, plain. Throws for a name without a value. */
export function say(language: Language, key: TextKey, values: Values = {}): string {
  return fill(TEXTS[language][key] ?? ENGLISH[key], (name) => valueOf(values, name));
}

/** Values that a payer compares or types digit by digit. */
const FIGURES: ReadonlySet<string> = new Set(['amount', 'phone', 'ussd', 'example']);

/**
 * The text as markup: no line breaks in a figure; names keep the direction of the text. `escape` makes text harmless.
 */
export function sayAsMarkup(
  { language, values }: { readonly language: Language; readonly values: Values },
  key: TextKey,
  escape: (text: string) => string,
): string {
  return fill(escape(TEXTS[language][key] ?? ENGLISH[key]), (name) => {
    const value = escape(valueOf(values, name));
    if (FIGURES.has(name)) return `<span class="figure">${value}</span>`;
    return name === 'merchant' ? `<bdi>${value}</bdi>` : value;
  });
}

function fill(text: string, shown: (name: string) => string): string {
  return text.replace(/\{([a-z]+)\}/g, (_, name: string) => shown(name));
}

function valueOf(values: Values, name: string): string {
  const value = values[name];
  if (value === undefined) throw new Error(`a text needs ${name}`);
  return value;
}

/** Whether the text appears in English because the language lacks it. */
export function isUntranslated(language: Language, key: TextKey): boolean {
  return TEXTS[language][key] === undefined;
}

/** The language of the tag, which may name a region (`fr-CI`); null if there are no texts in it. */
export function languageOf(tag: unknown): Language | null {
  const primary = typeof tag === 'string' ? tag.toLowerCase().split('-')[0] : undefined;
  return LANGUAGES.find((language) => language === primary) ?? null;
}

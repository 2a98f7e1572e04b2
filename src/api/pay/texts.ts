// The languages of the pages of checkouts, and which of them a payer reads.
import { ENGLISH } from './texts-en.ts';
import { FRENCH } from './texts-fr.ts';
import { LUGANDA } from './texts-lg.ts';
import { SWAHILI } from './texts-sw.ts';

export type TextKey = keyof typeof ENGLISH;
/** What a language has no words for is said in English. */
export type Texts = Readonly<Partial<Record<TextKey, string>>>;

export const LANGUAGES = ['en', 'fr', 'sw', 'lg'] as const;
export type Language = (typeof LANGUAGES)[number];

const TEXTS: Readonly<Record<Language, Texts>> = { en: ENGLISH, fr: FRENCH, sw: SWAHILI, lg: LUGANDA };

/** What stands in the place of names in braces. */
export type Values = Readonly<Record<string, string>>;

/** The text, plain: a template escapes it with the values in it. Throws for a name without a value. */
export function say(language: Language, key: TextKey, values: Values = {}): string {
  return (TEXTS[language][key] ?? ENGLISH[key]).replace(/\{([a-z]+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the text ${key} needs ${name}`);
    return value;
  });
}

/** Whether the text is said in English for want of the language's own words. */
export function isMissing(language: Language, key: TextKey): boolean {
  return TEXTS[language][key] === undefined;
}

/** The language by its tag, or that of its region (`fr-CI`); null: none of ours. */
export function languageOf(tag: unknown): Language | null {
  const primary = typeof tag === 'string' ? tag.toLowerCase().split('-')[0] : undefined;
  return LANGUAGES.find((language) => language === primary) ?? null;
}

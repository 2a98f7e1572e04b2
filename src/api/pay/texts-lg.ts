// The texts of the checkout pages in Luganda, only where the words are certain. English replaces missing texts.
import type { Texts } from './texts-en.ts';

export const LUGANDA: Texts = {
  language: 'Luganda',
  languages: 'Olulimi',
  'form.title': 'Sasula {merchant}',
  'form.amount': 'Omuwendo',
  'form.phone': 'Ennamba yo eya mobile money',
  'form.pay': 'Sasula {amount}',
  'error.phone.missing': 'Wandiika ennamba yo eya mobile money.',
  'prompted.title': 'Kakasa ku ssimu yo',
  'steps.title': 'Eky’okukola',
  'live.check': 'Kebera nate',
  'paid.title': 'Kisasuddwa',
  'over.title': 'Tekisasuddwa',
  'over.other': 'Kozesa ennamba endala',
  'return.link': 'Ddayo ku {merchant} ({host})',
  'completed.title': 'Kino kisasuddwa',
  'page.open': 'Ggulawo omuko nate',
};

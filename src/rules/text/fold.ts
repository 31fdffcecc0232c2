/** Base letters of Latin letters that Unicode does not decompose. */
const latinLetters: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
}

/** Arabic letters for those of Persian and Urdu keyboards and the undotted yeh, which search treats as the same. */
const arabicLetters: Readonly<Record<string, string>> = { ى: 'ي', ی: 'ي', ک: 'ك' }

/** Matches text of ASCII characters only. */
export const ascii = /^[\0-\x7f]*$/
/** Matches Latin, Greek and Cyrillic diacritics. In other scripts the marks are letters, and so are the voicing marks of kana. */
const diacritics = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/g
/** Matches vowel points, and the tatweel that stretches a word. Arabic, Hebrew and Syriac are mostly written without them. */
const points = /[\p{Mn}&&[\p{scx=Arabic}\p{scx=Hebrew}\p{scx=Syriac}]]|\u0640/gv

/**
 * Returns a text without case, compatibility forms and marks that many people leave out: Latin, Greek and Cyrillic diacritics, and the
 * points of Arabic, Hebrew and Syriac. `Łódź ﬁle` becomes `lodz file`, `Straße` becomes `strasse`, `שָׁלוֹם` becomes `שלום`.
 */
export function fold(text: string): string {
  if (ascii.test(text)) return text.toLowerCase()
  return foldCase(withoutPoints(text.normalize('NFKD').replace(diacritics, '')))
    .normalize('NFKD')
    .replace(diacritics, '')
    .replace(/[æœøłđðþħŧŋ]/g, (letter) => latinLetters[letter] ?? letter)
    .replace(/[ىیک]/g, (letter) => arabicLetters[letter] ?? letter)
    .normalize('NFC')
}

/** Folds case. Lower case alone would distinguish `ß` from `SS`, and write a sigma according to its neighbours. */
export function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ')
}

export function withoutPoints(text: string): string {
  return text.replace(points, '')
}

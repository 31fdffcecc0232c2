/** Letters that Unicode does not decompose into a base letter and a mark. */
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

const ascii = /^[\0-\x7f]*$/

/**
 * Text without case, compatibility forms and Latin, Greek and Cyrillic diacritics: `Łódź ﬁle` becomes `lodz file`, `Straße`
 * becomes `strasse`. Marks of other scripts stay, since there they are letters.
 */
export function fold(text: string): string {
  if (ascii.test(text)) return text.toLowerCase()
  return foldCase(text.normalize('NFKD').replace(/[\u0300-\u036f]/g, ''))
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[æœøłđðþħŧŋ]/g, (letter) => latinLetters[letter] ?? letter)
    .normalize('NFC')
}

/** Case folding: lower case alone keeps `ß` apart from `SS`, and writes a sigma by what stands around it. */
export function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ')
}

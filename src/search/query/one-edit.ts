/** Letters that people type, by script. Words of other scripts only lose letters, or swap them. */
const alphabets: readonly [script: RegExp, letters: string][] = [
  [/^[a-z]/, 'abcdefghijklmnopqrstuvwxyz'],
  [/^\p{Script=Cyrillic}/u, 'абвгдежзиклмнопрстуфхцчшщъыьэюяіїєґ'],
  [/^\p{Script=Greek}/u, 'αβγδεζηθικλμνξοπρστυφχψως'],
]

/**
 * Every word that a folded word becomes with one edit, each once: 54n + 25 of n Latin letters. After Norvig, "How to Write a
 * Spelling Corrector", 2007.
 */
export function oneEditFrom(word: string): Set<string> {
  const letters = alphabets.find(([script]) => script.test(word))?.[1] ?? ''
  const edited = new Set<string>()
  for (let at = 0; at <= word.length; at++) {
    const [before, after] = [word.slice(0, at), word.slice(at)]
    if (after !== '') edited.add(before + after.slice(1))
    if (after.length > 1) edited.add(before + after.charAt(1) + after.charAt(0) + after.slice(2))
    for (const letter of letters) {
      edited.add(before + letter + after)
      if (after !== '') edited.add(before + letter + after.slice(1))
    }
  }
  edited.delete(word)
  return edited
}

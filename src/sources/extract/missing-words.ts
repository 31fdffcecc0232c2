/** Counts the words of a text, and those of them that another text lacks. Each occurrence counts. */
export function missingWords(expected: string, text: string): { all: number; missing: number } {
  const left = new Map<string, number>()
  for (const [word] of wordsOf(text)) left.set(word, (left.get(word) ?? 0) + 1)
  let [all, missing] = [0, 0]
  for (const [word] of wordsOf(expected)) {
    const count = left.get(word) ?? 0
    left.set(word, count - 1)
    all++
    if (count <= 0) missing++
  }
  return { all, missing }
}

/**
 * Returns words, and characters of scripts without spaces. Words broken at the end of a line are whole. Superscripts, ligatures and
 * full-width letters count as what they stand for.
 */
function wordsOf(text: string): RegExpStringIterator<RegExpExecArray> {
  const whole = text.normalize('NFKC').replace(/(\p{L})[-\u00AD\u2010]\s*\n\s*(?=\p{Ll})/gu, '$1')
  return whole.toLowerCase().matchAll(/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]|[\p{L}\p{N}]+/gu)
}

/** Part of the words of a file from which on people are told that its text lacks them. */
const mostUntold = 0.05
/** Part of the words of a file from which on a curator decides, if its text lacks them. */
const mostLost = 0.1
/** Fewer words are not worth a warning. */
const fewest = 5

/**
 * Compares the words that a file shows with those of the Markdown that was made of it, and returns warnings and doubts about words
 * that the Markdown lacks. `shown` must be taken from the file itself, before any step that may drop text.
 */
export function lostWords(shown: string, markdown: string): { warnings: string[]; doubts: string[] } {
  const left = new Map<string, number>()
  for (const [word] of wordsOf(markdown)) left.set(word, (left.get(word) ?? 0) + 1)
  let [all, lost] = [0, 0]
  for (const [word] of wordsOf(shown)) {
    const count = left.get(word) ?? 0
    left.set(word, count - 1)
    all++
    if (count <= 0) lost++
  }
  if (lost < fewest || lost <= all * mostUntold) return { warnings: [], doubts: [] }
  const told = [`Of the ${all} words that the file shows, ${lost} are not in its text.`]
  return lost > all * mostLost ? { warnings: [], doubts: told } : { warnings: told, doubts: [] }
}

/** Superscripts, ligatures and full-width letters count as what they stand for. */
function wordsOf(text: string): RegExpStringIterator<RegExpExecArray> {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)
}

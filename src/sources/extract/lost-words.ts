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
  for (const word of wordsOf(markdown)) left.set(word, (left.get(word) ?? 0) + 1)
  const words = wordsOf(shown)
  const lost = words.filter((word) => {
    const count = left.get(word) ?? 0
    left.set(word, count - 1)
    return count <= 0
  }).length
  if (lost < fewest || lost <= words.length * mostUntold) return { warnings: [], doubts: [] }
  const told = [`Of the ${words.length} words that the file shows, ${lost} are not in its text.`]
  return lost > words.length * mostLost ? { warnings: [], doubts: told } : { warnings: told, doubts: [] }
}

/** Superscripts, ligatures and full-width letters count as what they stand for. */
function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}

/** A word that is broken at the end of a line, as its two parts. */
type BrokenWord = readonly [first: string, second: string]

const broken = /(?<![\p{L}-])(\p{L}{2,})[-\u2010][^\S\n]*\n\s*(\p{Ll}{2,})(?![\p{L}-])/gu
const word = /\p{L}+(?:[-\u2010]\p{L}+)*/gu
/** Minimum letters of each part that is a word of its own. */
const fewLetters = 3

/** Returns the words that are broken at line ends of a page. */
export function brokenWords(text: string): BrokenWord[] {
  return Array.from(text.matchAll(broken), ([, first = '', second = '']) => [first, second] as const)
}

/**
 * Restores hyphens of compound words at line ends, where readers take them for broken words: if the document has the word with a hyphen
 * elsewhere, or has both parts as words but not the whole.
 * @param pages Markdown, with its broken words joined
 */
export function withCompoundHyphens<Page extends { markdown: string; broken: readonly BrokenWord[] }>(
  pages: readonly Page[],
): Page[] {
  const all = pages.flatMap((page) => page.broken)
  if (all.length === 0) return [...pages]
  const counts = countWords(pages.map(({ markdown }) => markdown))
  const count = (text: string) => counts.get(text.toLowerCase()) ?? 0
  // The joined words are in the text only because of the line breaks.
  for (const parts of all) counts.set(parts.join('').toLowerCase(), count(parts.join('')) - 1)
  const isCompound = ([first, second]: BrokenWord) => {
    const [hyphenated, whole] = [count(`${first}-${second}`), count(first + second)]
    if (hyphenated > 0 || whole > 0) return hyphenated > Math.max(whole, 0)
    return first.length >= fewLetters && second.length >= fewLetters && count(first) > 0 && count(second) > 0
  }
  return pages.map((page) => {
    const compounds = page.broken.filter(isCompound)
    if (compounds.length === 0) return page
    const byWhole = new Map(compounds.map((parts) => [parts.join(''), parts.join('-')]))
    return { ...page, markdown: page.markdown.replace(word, (found) => byWhole.get(found) ?? found) }
  })
}

function countWords(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) {
    for (const [found] of text.matchAll(word)) {
      const key = found.toLowerCase().replaceAll('\u2010', '-')
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  return counts
}

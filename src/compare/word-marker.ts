import { diffArrays } from 'diff'

export type DiffPart = { text: string; isChanged: boolean }

/** Characters of lines that are compared by words. */
const maxLine = 4000
/** Words that differ between two lines. */
const maxDistance = 300
/** Characters times distances, in all: about a tenth of a second. */
const maxWork = 5_000_000
/** The share of a line that must be the same for its words to be worth marking. */
const leastCommon = 0.3

const segmenter = new Intl.Segmenter('en', { granularity: 'word' })
const blank = /^\s*$/

/** Marks the words that differ in pairs of lines, as long as there is work left for it. */
export class WordMarker {
  #work = maxWork

  /** `undefined` where the lines have too little in common, or are too long. */
  mark(before: string, after: string): { before: DiffPart[]; after: DiffPart[] } | undefined {
    const size = before.length + after.length
    if (size === 0 || Math.max(before.length, after.length) > maxLine || this.#work <= 0) return undefined
    const found = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: maxDistance })
    const changed = found?.filter(({ added, removed }) => added || removed).flatMap(({ value }) => value).length
    this.#work -= size * (changed ?? maxDistance)
    if (found === undefined) return undefined
    const common = found.filter(({ added, removed }) => !added && !removed).flatMap(({ value }) => value)
    if (common.filter((word) => !blank.test(word)).join('').length * 2 < leastCommon * size) return undefined
    const side = (other: 'added' | 'removed') =>
      joined(
        found.flatMap((part) =>
          part[other] ? [] : { text: part.value.join(''), isChanged: part.added || part.removed },
        ),
      )
    return { before: side('added'), after: side('removed') }
  }
}

function wordsOf(line: string): string[] {
  return Array.from(segmenter.segment(line), ({ segment }) => segment)
}

/** A blank between two changed words has changed with them. */
function joined(parts: readonly DiffPart[]): DiffPart[] {
  const result: DiffPart[] = []
  for (const [index, part] of parts.entries()) {
    const isBetween = parts[index - 1]?.isChanged && parts[index + 1]?.isChanged && blank.test(part.text)
    const isChanged = part.isChanged || isBetween === true
    const last = result.at(-1)
    if (last?.isChanged === isChanged) last.text += part.text
    else result.push({ text: part.text, isChanged })
  }
  return result
}

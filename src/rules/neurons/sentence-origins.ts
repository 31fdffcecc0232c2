import { diffArrays } from 'diff'
import { type LineAt, linesIn, type Sentence, sentencesOf } from '../text/sentences.ts'

/** Sentences that two versions may differ by before they are compared by their text alone. */
const maxDistance = 2000

/** A version of a text. `isFollowing`: only its links were rewritten, so that a sentence in the place of another is that sentence. */
export type TextVersion = { text: string; isFollowing: boolean }

/** A sentence, the index of the version that brought it, and how it was written there. */
export type BroughtSentence = { sentence: Sentence; origin: number; said: string }

/**
 * The sentences of the last version. One that moves within the text, or that goes and comes back, keeps its origin.
 * @param versions oldest first
 * @param within a passage of the last version: others than its sentences may be left out
 */
export function sentenceOrigins(
  versions: readonly TextVersion[],
  language: string,
  within?: string,
): BroughtSentence[] {
  const last = versions.at(-1)?.text ?? ''
  // How a sentence was written before its links followed a rename is known by its place among all.
  const isPart = within !== undefined && !versions.some(({ isFollowing }) => isFollowing)
  const sentences = isPart ? sentencesWithin(last, within, language) : sentencesOf(last, language)
  const wanted = textsOf(sentences)
  let before: Omit<BroughtSentence, 'sentence'>[] = []
  let texts: string[] = []
  const gone = new Map<string, Omit<BroughtSentence, 'sentence'>>()
  const known = new Map<string, string[]>()
  // Versions share most of their lines, and each line has its own sentences.
  const textsIn = ({ line }: LineAt) => {
    const said = known.get(line) ?? textsOf(sentencesOf(line, language))
    known.set(line, said)
    return said
  }
  for (const [at, { text, isFollowing }] of versions.entries()) {
    const fresh = text === last ? wanted : (isPart ? linesHolding(text, wanted) : linesIn(text)).flatMap(textsIn)
    const { from, taken } = keptSentences(texts, fresh, isFollowing)
    for (const [index, left] of before.entries()) if (!taken.has(index)) gone.set(texts[index] ?? '', left)
    const old = before
    before = fresh.map((said, index) => {
      const was = from.get(index)
      return (was === undefined ? gone.get(said) : old[was]) ?? { origin: at, said }
    })
    texts = fresh
  }
  return before.flatMap((brought, at) => {
    const sentence = sentences[at]
    return sentence === undefined ? [] : [{ ...brought, sentence }]
  })
}

function textsOf(sentences: readonly Sentence[]): string[] {
  return sentences.map(({ text }) => text)
}

function sentencesWithin(text: string, passage: string, language: string): Sentence[] {
  const lines = linesHolding(text, textsOf(sentencesOf(passage, language)))
  return sentencesOf(text, language, lines).filter((sentence) => passage.includes(sentence.text))
}

/** The lines of a text that hold one of some texts, which are of one line each. */
function linesHolding(text: string, parts: readonly string[]): LineAt[] {
  const lines = new Map<number, LineAt>()
  for (const part of new Set(parts)) {
    for (let [at, end] = [text.indexOf(part), 0]; at !== -1; at = text.indexOf(part, end)) {
      const start = text.lastIndexOf('\n', at) + 1
      end = text.indexOf('\n', at)
      if (end === -1) end = text.length
      lines.set(start, { start, line: text.slice(start, end) })
    }
  }
  return [...lines.values()].sort((a, b) => a.start - b.start)
}

/** From which sentence before each sentence comes, by index, and which of those before are one of these. */
function keptSentences(
  old: string[],
  fresh: string[],
  isFollowing: boolean,
): { from: Map<number, number>; taken: Set<number> } {
  const from = new Map<number, number>()
  const taken = new Set<number>()
  const keep = (to: number, was: number) => {
    from.set(to, was)
    taken.add(was)
  }
  const changes = diffArrays(old, fresh, { maxEditLength: maxDistance }) ?? []
  let [was, is, removed] = [0, 0, 0]
  for (const { count, added, removed: isRemoved } of changes) {
    if (isRemoved) was += count
    else if (added) {
      if (isFollowing && removed === count) for (let each = 0; each < count; each++) keep(is + each, was - count + each)
      is += count
    } else for (let each = 0; each < count; each++) keep(is++, was++)
    removed = isRemoved ? count : 0
  }
  return { from, taken }
}

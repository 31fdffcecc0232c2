import { diffArrays } from 'diff'
import { type LineAt, linesIn, type Sentence, sentencesOf } from '../text/sentences.ts'

/** Maximum edit distance, in sentences, for an exact diff. Versions that differ more are compared by their sentences' text alone. */
const maxDistance = 2000

/** Version of a text. `isFollowing`: only links were rewritten, so a sentence in the place of another is the same sentence. */
export type TextVersion = { text: string; isFollowing: boolean }

/** Sentence with the index of the version that introduced it, and its wording there. */
export type BroughtSentence = { sentence: Sentence; origin: number; said: string }

/**
 * Returns the sentences of the last version with their origins. A sentence that moves within the text, or disappears and returns, keeps its
 * origin.
 * @param versions oldest first
 * @param within a passage of the last version: sentences outside of it may be left out
 */
export function sentenceOrigins(
  versions: readonly TextVersion[],
  language: string,
  within?: string,
): BroughtSentence[] {
  const last = versions.at(-1)?.text ?? ''
  // After a rename a sentence is only recognised by its position, so all sentences are needed.
  const isPart = within !== undefined && !versions.some(({ isFollowing }) => isFollowing)
  const sentences = isPart ? sentencesWithin(last, within, language) : sentencesOf(last, language)
  const wanted = textsOf(sentences)
  let before: Omit<BroughtSentence, 'sentence'>[] = []
  let texts: string[] = []
  const gone = new Map<string, Omit<BroughtSentence, 'sentence'>>()
  const known = new Map<string, string[]>()
  // Versions share most of their lines, so sentences are split once for each distinct line.
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

/** Returns the lines of a text that contain one of some one-line texts. */
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

/**
 * Maps each sentence of a version to the sentence of the previous version that it continues, by index. `taken`: the indexes of the
 * continued sentences.
 */
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

/** Removes the line that names the part of the Source from which a page was compiled. */
export function withoutOrigin(content: string): string {
  return content.replace(/\n\n(?:From|Aus) \[\[[^\]\n]+\]\][^\n]*\.$/, '')
}

import { diffArrays } from 'diff'
import { type Sentence, sentencesOf } from '../text/sentences.ts'

/** Sentences that two versions may differ by before they are compared by their text alone. */
const maxDistance = 2000

/** A version of a text. `isFollowing`: only its links were rewritten, so that a sentence in the place of another is that sentence. */
export type TextVersion = { text: string; isFollowing: boolean }

/** A sentence, the index of the version that brought it, and how it was written there. */
export type BroughtSentence = { sentence: Sentence; origin: number; said: string }

/**
 * The sentences of the last version. One that moves within the text, or that goes and comes back, keeps its origin.
 * @param versions oldest first
 * @param pause is called after each version
 */
export async function sentenceOrigins(
  versions: readonly TextVersion[],
  language: string,
  pause: () => Promise<void>,
): Promise<BroughtSentence[]> {
  let before: Omit<BroughtSentence, 'sentence'>[] = []
  let texts: string[] = []
  const gone = new Map<string, Omit<BroughtSentence, 'sentence'>>()
  const known = new Map<string, string[]>()
  for (const [at, { text, isFollowing }] of versions.entries()) {
    // Versions share most of their lines, and each line has its own sentences.
    const fresh = text.split(/[\r\n]+/).flatMap((line) => {
      const sentences = known.get(line) ?? sentencesOf(line, language).map((sentence) => sentence.text)
      known.set(line, sentences)
      return sentences
    })
    const { from, taken } = keptSentences(texts, fresh, isFollowing)
    for (const [index, left] of before.entries()) if (!taken.has(index)) gone.set(texts[index] ?? '', left)
    const last = before
    before = fresh.map((said, index) => {
      const was = from.get(index)
      return (was === undefined ? gone.get(said) : last[was]) ?? { origin: at, said }
    })
    texts = fresh
    await pause()
  }
  const sentences = sentencesOf(versions.at(-1)?.text ?? '', language)
  return before.flatMap((brought, at) => {
    const sentence = sentences[at]
    return sentence === undefined ? [] : [{ ...brought, sentence }]
  })
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

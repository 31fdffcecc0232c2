import type { Analyser } from '../../search/text/analyser.ts'
import { isUnspaced } from '../../search/text/script.ts'
import { foldWord } from '../../search/text/spelling.ts'
import type { Token } from '../../search/text/tokens.ts'
import type { Question } from '../answerer.ts'

/** Word of a question: its terms, any of which counts, and its weight. */
export type AskedWord = { terms: string[]; weight: number }

const maxWords = 64
/** English words that belong to the form of a question, which an answer need not contain. */
const formWords = new Set(
  `actually again anyone anybody anything back exactly explain during find found get gets getting give gives happen happens happening hello
  hey hi know long made make makes may mean means might much many need needed needs often please say says show someone something somebody
  take takes tell thank thanks until use used uses using very want way ways possible able like called kind kinds sort sorts type types
  thing things exist exists there work works come comes came deal without own there's whole really ever still always else several instead
  at all`.split(/\s+/),
)

/** Returns the words of a question that an answer must cover. @param texts the question, then the earlier ones that it refers to */
export function askedWords(texts: readonly string[], question: Question, analyser: Analyser): AskedWord[] {
  const rarities = new Map(Object.entries(question.passages[0]?.rarity ?? {}))
  const words = new Map<string, AskedWord>()
  for (const [index, text] of texts.entries()) {
    for (const { tokens, surface } of wordsIn(text, analyser)) {
      const key = tokens.map(({ term }) => term).join(' ')
      const isForm = isEnglish(question.language) && formWords.has(surface.toLowerCase())
      if (isForm || words.has(key) || words.size === maxWords) continue
      const rarity = Math.max(...tokens.map(({ term }) => rarities.get(term) ?? 1))
      // A word on every page, and one of an earlier question, weighs half.
      const weight = ((1 + rarity) / 2) * (index === 0 ? 1 : 0.5)
      words.set(key, { terms: [key, ...(tokens[0]?.also ?? [])], weight })
    }
  }
  const asked = texts.map((text) => spacedTerms(text, analyser)).join('')
  for (const group of question.synonyms) {
    const forms = group.map((form) => spacedTerms(form, analyser).trim())
    for (const form of forms.filter((one) => asked.includes(` ${one} `))) {
      for (const term of new Set([form, ...form.split(' ')])) words.get(term)?.terms.push(...forms)
    }
  }
  return [...words.values()]
}

/** Returns the words of a text without stop words. `e-mail` and `web.yml` are one word each. */
function wordsIn(text: string, analyser: Analyser): { tokens: Token[]; surface: string }[] {
  const runs: Token[][] = []
  let lastEnd = -1
  for (const token of analyser.tokens(text)) {
    // Scripts without spaces give overlapping pairs of characters as tokens. The previous pair covers this one.
    if (token.end === lastEnd) continue
    const isJoined = lastEnd >= 0 && /^[-_.'’]?$/.test(text.slice(lastEnd, token.start))
    if (isJoined && !isUnspaced(text.slice(token.start, token.end))) runs.at(-1)?.push(token)
    else runs.push([token])
    lastEnd = token.end
  }
  return runs
    .map((tokens) => ({ tokens, surface: text.slice(tokens[0]?.start, tokens.at(-1)?.end) }))
    .filter(({ surface }) => !analyser.isStopWord(foldWord(surface)))
}

/** Returns the pairs of consecutive terms of a question, including stop words: `written in`. */
export function askedPairs(text: string, analyser: Analyser): string[] {
  const terms = analyser.tokens(text).map(({ term }) => term)
  return terms.slice(1).map((term, index) => `${terms[index]} ${term}`)
}

/** Returns the terms of a text, with a space before, between and after. */
export function spacedTerms(text: string, analyser: Analyser): string {
  const terms = analyser.tokens(text).flatMap(({ term, also }) => [term, ...also])
  return ` ${terms.join(' ')} `
}

export function isEnglish(language: string): boolean {
  return /^en\b/i.test(language)
}

/** Matches the border between two questions of one message. */
const division =
  /(?<=\?)\s+|,?\s+and\s+(?=(?:what|which|who|when|where|why|how|is|are|can|may|must|do|does|did|should)\s+\S+\s+\S+)/i

/** Returns the two questions of an English message, to be answered apart, or the message. */
export function questionsIn(message: string, language: string, analyser: Analyser): string[] {
  const parts = isEnglish(language) ? message.split(division).map((part) => part.trim()) : []
  const areWhole = parts.length === 2 && parts.every((part) => wordsIn(part, analyser).length > 1)
  return areWhole ? parts : [message]
}

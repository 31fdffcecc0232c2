import { KbView } from '../../kb/access/kb-view.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import { parseNeuronFile, shownContent } from '../../markdown/file/neuron-file.ts'
import { fold } from '../../rules/text/fold.ts'
import { cutText } from '../../rules/text/whole-characters.ts'
import { pauses } from '../../system/pauses.ts'
import { highlight } from '../excerpt/highlight.ts'
import { questionTerms } from '../query/query-words.ts'
import type { ChunkHit, Packing, PageHit, PageHits, View } from '../search-index.ts'
import { analyserFor } from '../text/analyser.ts'

/** Maximum pages of one scan, and total characters of their files. Further pages are reported as missing, as scanned ones also are. */
const maxPages = 1_000
const maxLength = 4_000_000
/** Maximum and minimum characters of a passage. */
const [passageLength, leastLength] = [1_500, 60]
/** Weight of a term in the title, compared with one in the text. */
const titleWeight = 3

export type ScannedPage = {
  key: string
  title: string
  content: string
  terms: readonly string[]
  score: number
  isWhole: boolean
}

/** Searches pages that the index lacks as plain text, and returns those with terms of the question, best first. */
export async function scanPages(
  kb: ReadableKb,
  keys: readonly string[],
  question: string,
  scope: View,
): Promise<ScannedPage[]> {
  const { language } = await kb.settings()
  const terms = questionTerms(question, analyserFor(language)).map(({ term }) => term)
  const view = new KbView(kb, scope)
  const pause = pauses()
  const found: ScannedPage[] = []
  let left = maxLength
  for (const key of terms.length === 0 ? [] : keys.slice(0, maxPages)) {
    const neuron = view.about(key, findNeuron)
    if (neuron === undefined) continue
    const text = await kb.repository.readTextOnce(neuron.blob)
    left -= text.length
    if (left < 0) break
    await pause()
    const content = shownContent(parseNeuronFile(text))
    const [inTitle, inText] = [fold(neuron.title), fold(content)]
    const held = terms.filter((term) => inTitle.includes(term) || inText.includes(term))
    const score = held.reduce((sum, term) => sum + (inTitle.includes(term) ? titleWeight : 1), 0)
    const isWhole = held.length === terms.length
    if (score > 0) found.push({ key, title: neuron.title, content, terms: held, score, isWhole })
  }
  return found.sort((a, b) => b.score - a.score)
}

/** Adds scanned pages to those from the index, by the rule of the index: pages with all words, or else with some. */
export function withScanned(
  found: Pick<PageHits, 'hits' | 'total' | 'matched'>,
  scanned: readonly ScannedPage[],
  { language, limit, offset = 0 }: { language: string; limit: number; offset?: number },
): PageHits {
  const isWhole = (found.total > 0 && found.matched === 'all') || scanned.some((page) => page.isWhole)
  const kept = isWhole && found.matched === 'some' ? { hits: [], total: 0 } : found
  const more = scanned.filter((page) => page.isWhole || !isWhole)
  const lowest = kept.hits.at(-1)?.rank ?? 1
  const from = Math.max(0, offset - kept.total)
  const shown = more.slice(from, from + limit - kept.hits.length).map((page): PageHit => {
    const { key, title, terms, score } = page
    const leaves = terms.map((term) => ({ type: 'term', term, text: term }) as const)
    const excerpt = highlight(cutText(bestPart(page), passageLength), leaves, analyserFor(language))
    const rank = (lowest * score) / Math.max(score, more[0]?.score ?? 1)
    return { key, highlight: excerpt === '' ? highlight(title, leaves, analyserFor(language)) : excerpt, rank }
  })
  const total = kept.total + more.length
  return { hits: [...kept.hits, ...shown], total, matched: isWhole || total === 0 ? 'all' : 'some' }
}

/** Appends passages of scanned pages to those of the index, within the bounds of the answer. */
export function withScannedPassages(
  hits: readonly ChunkHit[],
  scanned: readonly ScannedPage[],
  { limit, packing }: { limit: number; packing?: Packing | undefined },
): ChunkHit[] {
  const all = [...hits]
  const most = packing?.topK ?? limit
  let left =
    (packing?.maxChars ?? Number.POSITIVE_INFINITY) - hits.reduce((sum, { content }) => sum + content.length, 0)
  const lowest = hits.at(-1)?.rank ?? 1
  for (const page of scanned) {
    const text = bestPart(page)
    if (all.length >= most || left < Math.min(leastLength, text.length)) break
    const content = cutText(text, Math.min(left, passageLength))
    left -= content.length
    const { key, terms, score } = page
    const rank = (lowest * score) / Math.max(score, scanned[0]?.score ?? 1)
    const rarity = Object.fromEntries(terms.map((term) => [term, 1]))
    all.push({ key, ordinal: 0, chunkCount: 1, headings: [], content, rank, rarity })
  }
  return all
}

/** Returns the text from the paragraph with most of the terms on. */
function bestPart({ content, terms, title }: ScannedPage): string {
  let [best, most] = [0, 0]
  for (const { 0: paragraph, index } of content.matchAll(/\S[^\n]*(?:\n[^\S\n]*\S[^\n]*)*/g)) {
    const folded = fold(paragraph)
    const held = terms.filter((term) => folded.includes(term)).length
    if (held > most) [best, most] = [index, held]
  }
  const text = content.slice(best).trim()
  return text === '' ? title : text
}

import { distance } from 'fastest-levenshtein'
import { type Audience, effectiveAudience, maySee } from '../../knowledge/audience.ts'
import { fold } from '../../knowledge/fold.ts'
import { everyTitle } from '../../store/link-queries.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { findPages } from './search.ts'

/** The words of titles: each as it is spelled first, with how many titles have it, by what is left without case and accents. */
type Vocabulary = ReadonlyMap<string, { word: string; count: number }>

const words = /[\p{L}\p{M}\p{N}]+/gu
const minLength = 4
/** The words of a query that are looked at. */
const maxWords = 8

const known = new WeakMap<KnowledgeBase, Map<Audience, { main: string | undefined; vocabulary: Vocabulary }>>()

/**
 * Spells the words of a query as the titles do that the caller may see, where none of them has such a word but one that is nearly
 * the same. Undefined where that changes nothing, or finds nothing. @throws {GanglionError} `not_found`, `unavailable`
 */
export async function suggestQuery(
  ganglion: Ganglion,
  caller: Caller,
  kbName: string,
  q: string,
): Promise<string | undefined> {
  const vocabulary = await vocabularyOf(await ganglion.kb(caller.tenantId, kbName), effectiveAudience(caller.role))
  let looked = 0
  const spelled = q.replace(words, (word) => {
    if (word.length < minLength || looked === maxWords || vocabulary.has(fold(word))) return word
    looked++
    return nearest(fold(word), vocabulary) ?? word
  })
  if (spelled === q) return undefined
  const { total } = await findPages(ganglion, caller, kbName, { q: spelled, kind: 'all', limit: 1 })
  return total === 0 ? undefined : spelled
}

/** The word with the fewest slips, of several the one that most titles have. */
function nearest(key: string, vocabulary: Vocabulary): string | undefined {
  const most = key.length < 6 ? 1 : 2
  let best: { word: string; count: number; slips: number } | undefined
  for (const [other, { word, count }] of vocabulary) {
    if (Math.abs(other.length - key.length) > most || other.length < minLength) continue
    const slips = slipsBetween(key, other)
    const isBetter = best === undefined || slips < best.slips || (slips === best.slips && count > best.count)
    if (slips <= most && isBetter) best = { word, count, slips }
  }
  return best?.word
}

/** Two letters that change places are one slip. */
function slipsBetween(one: string, other: string): number {
  const edits = distance(one, other)
  if (edits !== 2 || one.length !== other.length) return edits
  const at = [...one].findIndex((letter, index) => letter !== other[index])
  const isSwapped = one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2)
  return isSwapped ? 1 : edits
}

/** Made once for each state of main. */
async function vocabularyOf(kb: KnowledgeBase, audience: Audience): Promise<Vocabulary> {
  const { read: sql } = kb.projection
  const { main } = kb.projection.heads(sql)
  const ofKb = known.get(kb) ?? new Map()
  known.set(kb, ofKb)
  const kept = ofKb.get(audience)
  if (kept !== undefined && kept.main === main) return kept.vocabulary
  const { defaultAudience } = await kb.settings()
  const seen = new Map<string, boolean>()
  const vocabulary = new Map<string, { word: string; count: number }>()
  for (const { title, tags, audience: listed } of everyTitle(sql)) {
    const access = `${tags} ${listed}`
    const isSeen =
      seen.get(access) ??
      maySee(
        audience,
        { tags: JSON.parse(tags), audience: listed === null ? undefined : JSON.parse(listed) },
        defaultAudience,
      )
    seen.set(access, isSeen)
    if (isSeen) addWords(vocabulary, title)
  }
  ofKb.set(audience, { main, vocabulary })
  return vocabulary
}

function addWords(vocabulary: Map<string, { word: string; count: number }>, title: string): void {
  for (const [word] of title.matchAll(words)) {
    const key = fold(word)
    const entry = vocabulary.get(key)
    if (entry === undefined) vocabulary.set(key, { word: word.toLowerCase(), count: 1 })
    else entry.count++
  }
}

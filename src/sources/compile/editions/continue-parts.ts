import { linkKey } from '../../../rules/links/link-target.ts'
import { uniqueSlug } from '../../../rules/paths/slug.ts'
import type { WrittenPart } from '../model/model-pages.ts'
import { countedTitle, titleChoices, uniqueTitle } from '../parts/part-titles.ts'
import { type Overlap, overlapsOf } from './overlaps.ts'

/** Page that an earlier edition of the document became. */
export type OldPage = OldSection & {
  /** Key of the page, see `CompiledPage`. */
  key: string
  title: string
  /** Part that it was made from, if its file had the same bytes. */
  part?: string | undefined
}

/** Part that becomes a page. `part`: its own name in its document, whatever earlier editions had. */
export type ContinuedPart = WrittenPart & { part: string; doubt?: string }

type Document = {
  title: string
  /** Titles that its parts must not have, as returned by `linkKey`. */
  taken: ReadonlySet<string>
}

export const summaryKey = 'summary'
/** Maximum bytes of a key. */
const maxKey = 300
/** Minimum resemblance or containment for a document to be the next edition of another. */
const [leastResemblance, leastContainment] = [0.1, 0.3]
const count = / \((\d+)\)$/

/**
 * Gives each part the key of the page that it continues, and that page's title if the document still has it. Other parts get a key and a
 * title that no page ever had. `texts` are the texts of the parts, in Markdown; `olds` are in the order of their document.
 */
export async function continueParts(
  parts: readonly WrittenPart[],
  texts: readonly string[],
  olds: readonly OldPage[],
  { title: document, taken }: Document,
): Promise<ContinuedPart[]> {
  const sections = olds.filter(({ key }) => key !== summaryKey)
  if (sections.length === 0) return parts.map((part) => ({ ...part, part: part.key }))
  const choices = parts.map(({ base, path }) => new Set(titleChoices(base, path, document).map(linkKey)))
  const isNamed = (section: number, title: string) =>
    [title, title.replace(count, '')].some((name) => choices[section]?.has(linkKey(name)))
  const matches = await matchSections(sections, texts, (section, old) => {
    const { part, title = '' } = sections[old] ?? {}
    return part === parts[section]?.key ? 'sure' : isNamed(section, title)
  })
  const kept = matches.map((match, section) => {
    const title = match && sections[match.old]?.title
    return title !== undefined && isNamed(section, title) ? title : undefined
  })
  const continued = new Set(matches.map((match) => match?.old))
  // A page whose removal is pending still has its title.
  const waiting = sections.filter(({ isGone }, old) => !isGone && !continued.has(old))
  const titles = new Set([...taken, linkKey(document), ...waiting.map(({ title }) => linkKey(title))])
  for (const [section, title] of kept.entries()) {
    if (title === undefined) continue
    if (titles.has(linkKey(title))) kept[section] = undefined
    else titles.add(linkKey(title))
  }
  const keys = new Set([summaryKey, ...olds.map(({ key }) => key)])
  return parts.map((part, section) => {
    const match = matches[section]
    const key = match === undefined ? uniqueSlug(part.key, (slug) => keys.has(slug), maxKey) : sections[match.old]?.key
    keys.add(key ?? '')
    const title = kept[section] ?? freeTitle(part, document, titles)
    const doubt = match?.doubt === undefined ? {} : { doubt: match.doubt }
    return { ...part, part: part.key, key: key ?? part.key, title, ...doubt }
  })
}

/**
 * Returns the reason why a curator must check whether a document is the next edition of the previous one. Undefined if it is, or if
 * there is no previous one.
 */
export async function doubtOfDocument(text: string, olds: readonly OldPage[]): Promise<string | undefined> {
  const before = olds.filter(({ isGone }) => !isGone).map((page) => page.text)
  if (before.length === 0) return undefined
  const [[overlap] = []] = await overlapsOf([before.join('\n\n')], [text])
  const { resemblance = 0, containment = 0 } = overlap ?? {}
  if (resemblance >= leastResemblance || containment >= leastContainment) return undefined
  return `Only ${Math.round(resemblance * 100)} % of what this document and the one before it say is the same: it may be another.`
}

function freeTitle({ title, base, path, piece = 1 }: WrittenPart, document: string, titles: Set<string>): string {
  if (!titles.has(linkKey(title))) {
    titles.add(linkKey(title))
    return title
  }
  const free = piece === 1 ? uniqueTitle(base, path, document, titles) : document
  return free === document ? countedTitle(title.replace(count, ''), titles, piece) : free
}

/** A section of the previous edition, or a Neuron that was made from an earlier one. */
export type OldSection = {
  /** Markdown of the latest proposal. */
  text: string
  /** True if its Neuron was removed from main, or its text was rejected. Only a text that is certainly the same restores it. */
  isGone: boolean
  /** A text that a curator rejected as its next version. */
  refused?: string | undefined
}

/** Whether a section has the name of an old one; `sure` if it is known to be the same part of the same file. */
type SameName = (section: number, old: number) => 'sure' | boolean

type SectionMatch = {
  old: number
  /** Reason, for people, why a curator must check the match; absent if it is certain. */
  doubt?: string
}

/** Minimum resemblance of two sections to be the same, whatever their names. */
const enough = 0.3
/** Minimum containment of two sections with the same name to be the same. */
const mostly = 0.6
/** Maximum resemblance of two unrelated texts in one language. */
const noise = 0.1
/** Minimum resemblance of a text to a rejected one to count as the same. */
const refusal = 0.9
/** Minimum margin by which the best old section must resemble a new one more than the second best. */
const margin = 0.05
const rounding = 1e-9

/**
 * Finds the old section that each new one continues. A section continues the old one that its text resembles most, if the old one
 * resembles no other new one more. Similar ones are aligned in their order (dynamic programming: Needleman and Wunsch, 1970); the
 * others have moved. So an old section never gets a text that resembles another more. A section whose text is unrelated to all
 * old ones continues the one with its name, if the name is unique on both sides, and a curator is asked. All others are new.
 * `olds` are in the order of their document.
 */
export async function matchSections(
  olds: readonly OldSection[],
  news: readonly string[],
  sameName: SameName,
): Promise<(SectionMatch | undefined)[]> {
  const overlaps = await overlapsOf([...olds.map(({ text }) => text), ...olds.map(({ refused = '' }) => refused)], news)
  const refusedOf = overlaps.map((list) => new Set(list.flatMap((overlap) => refusedBy(overlap, olds))))
  const likely = overlaps.map((list) =>
    list.filter(({ old, resemblance }) => olds[old] && (!olds[old].isGone || resemblance >= enough)),
  )
  const matches: (SectionMatch | undefined)[] = news.map(() => undefined)
  const taken = new Set<number>()
  const match = (section: number, overlap: Overlap) => {
    taken.add(overlap.old)
    const doubt = doubtOf(overlap, likely[section] ?? [], olds, (old) => sameName(section, old))
    matches[section] = { old: overlap.old, ...(doubt === undefined ? {} : { doubt }) }
  }
  const claims = likely.map((list, section) => {
    const best = Math.max(0, ...list.map(({ resemblance }) => resemblance))
    const first = best < noise ? [] : list.filter(({ resemblance }) => resemblance > best - rounding)
    return first.filter(({ old }) => !refusedOf[section]?.has(old))
  })
  const strongest = strongestClaims(claims)
  for (const [section, overlap] of inOrder(strongest, olds.length)) match(section, overlap)
  for (const [section, list] of strongest.entries()) {
    const overlap = matches[section] === undefined ? list.find(({ old }) => !taken.has(old)) : undefined
    if (overlap) match(section, overlap)
  }
  for (const section of news.keys()) {
    if (matches[section] !== undefined) continue
    const old = namesake(section, { olds, news, sameName })
    if (old === undefined || taken.has(old) || refusedOf[section]?.has(old)) continue
    const list = likely[section] ?? []
    const own = list.find((overlap) => overlap.old === old) ?? { old, resemblance: 0, containment: 0 }
    // Only sections that resemble no other, or this one most, are aligned.
    if (list.every(({ resemblance }) => resemblance < noise || resemblance <= own.resemblance)) match(section, own)
  }
  return matches
}

/** Returns the rejected text that a section resembles. The second half of the old texts are rejected ones. */
function refusedBy({ old, resemblance }: Overlap, olds: readonly OldSection[]): number[] {
  const of = old - olds.length
  return olds[of]?.refused !== undefined && resemblance >= refusal ? [of] : []
}

function strongestClaims(claims: readonly Overlap[][]): Overlap[][] {
  const most = new Map<number, number>()
  for (const { old, resemblance } of claims.flat()) most.set(old, Math.max(resemblance, most.get(old) ?? 0))
  return claims.map((list) => list.filter(({ old, resemblance }) => resemblance > (most.get(old) ?? 0) - rounding))
}

/** Returns the alignment with the greatest total resemblance in which both sides keep their order. */
function inOrder(claims: readonly Overlap[][], olds: number): [section: number, overlap: Overlap][] {
  const width = olds + 1
  const sums = new Float64Array((claims.length + 1) * width)
  const sum = (section: number, old: number) => sums[section * width + old] ?? 0
  for (const [section, list] of claims.entries()) {
    const weights = new Map(list.map(({ old, resemblance }) => [old, resemblance]))
    for (let old = 0; old < olds; old++) {
      const both = sum(section, old) + (weights.get(old) ?? 0)
      sums[(section + 1) * width + old + 1] = Math.max(both, sum(section, old + 1), sum(section + 1, old))
    }
  }
  const aligned: [number, Overlap][] = []
  for (let section = claims.length, old = olds; section > 0 && old > 0; ) {
    if (sum(section, old) === sum(section - 1, old)) section--
    else if (sum(section, old) === sum(section, old - 1)) old--
    else {
      const overlap = claims[--section]?.find((claim) => claim.old === old - 1)
      if (overlap) aligned.push([section, overlap])
      old--
    }
  }
  return aligned.reverse()
}

/** Returns the old section with the same name, if the name is unique on both sides. */
function namesake(
  section: number,
  { olds, news, sameName }: { olds: readonly OldSection[]; news: readonly string[]; sameName: SameName },
): number | undefined {
  const named = [...olds.keys()].filter((old) => !olds[old]?.isGone && sameName(section, old) !== false)
  const [old, ...others] = named.filter((old) => sameName(section, old) === 'sure')
  if (old !== undefined && others.length === 0) return old
  const [only, ...more] = named
  if (only === undefined || more.length > 0) return undefined
  return [...news.keys()].every((other) => other === section || sameName(other, only) === false) ? only : undefined
}

function doubtOf(
  { old, resemblance, containment }: Overlap,
  others: readonly Overlap[],
  olds: readonly OldSection[],
  sameName: (old: number) => 'sure' | boolean,
): string | undefined {
  const name = sameName(old)
  const isSame = name === 'sure' || resemblance >= enough || (name && containment >= mostly)
  if (!isSame) {
    const percent = Math.round(resemblance * 100)
    return `Only ${percent} % of what this section and the Neuron say is the same: it may be about something else.`
  }
  const rival = others.find(
    (other) =>
      other.old !== old && other.resemblance > resemblance - margin && olds[other.old]?.text !== olds[old]?.text,
  )
  if (rival === undefined || resemblance === 1 || (name && !sameName(rival.old))) return undefined
  return 'The section resembles several Neurons of its document alike: it may be about another.'
}

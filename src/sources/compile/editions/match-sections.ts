import { type Overlap, overlapsOf } from './overlaps.ts'

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
export type SameName = (section: number, old: number) => 'sure' | boolean

export type SectionMatch = {
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

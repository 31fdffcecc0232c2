import { createHash } from 'node:crypto'
import { fileNameKey, type LinkMeaning, yieldsToFile } from '../links/file-target.ts'
import { doesYield, type NameClaim, type NeuronName, wasBefore } from '../links/link-target.ts'
import type { WrittenLink } from '../links/written-link.ts'

/** Link with its resolved meaning. Without a meaning, it leads into another knowledge base. */
export type LintedLink = Pick<WrittenLink, 'type' | 'target' | 'embed' | 'form' | 'line'> & {
  seqId: string
  /** Key of the link's target: links with the same key have the same target. */
  key: string
  meaning: LinkMeaning | undefined
}

export type FindingPlace = { seqId: string; line: number | null }

/** Links to a missing or ambiguous target: their number, the first places, and the number of Neurons that contain them. */
type TargetFinding = { key: string; target: string; links: number; neurons: number; places: FindingPlace[] }

/** Problem with the links of a knowledge base that a curator should look at. */
export type LintFinding =
  | { rule: 'orphan'; seqId: string }
  | ({ rule: 'missing-target'; likely: string[] } & TargetFinding)
  | ({ rule: 'gap' } & TargetFinding)
  | ({ rule: 'ambiguous-target'; meanings: string[] } & TargetFinding)
  | { rule: 'contradiction'; pair: [string, string] }
  | { rule: 'taken-name'; key: string; name: string; holder: string | undefined; others: string[] }

type Target = {
  found: TargetFinding
  meanings: Set<string>
  last?: readonly string[]
  isFile: boolean
  lastSeqId: string
}

export type LintedName = NeuronName & { seqId: string; claim: NameClaim }

/**
 * Returns `taken-name` findings: Neurons that a name does not lead to, since another Neuron, or a file (then without `holder`), had it
 * first.
 * @param names all of one key
 */
export function takenName(names: readonly LintedName[], isFile: (key: string) => boolean): LintFinding[] {
  const [first, ...rest] = names
  if (first === undefined || !names.some(({ claim }) => claim.yields)) return []
  const { key, exact: name } = first
  if (fileNameKey(name) !== undefined && names.every(yieldsToFile) && isFile(key))
    return [{ rule: 'taken-name', key, name, holder: undefined, others: [...new Set(names.map(({ seqId }) => seqId))] }]
  const holder = rest.reduce((one, other) => (wasBefore(other, one) ? other : one), first)
  const others = [...new Set(names.filter((name) => doesYield(name, holder)).map(({ seqId }) => seqId))]
  if (others.length === 0) return []
  const { exact } = names.find(({ seqId, kind }) => seqId === holder.seqId && kind === 'title') ?? holder
  return [{ rule: 'taken-name', key, name: exact, holder: holder.seqId, others }]
}

/** Maximum number of places that a finding lists. */
const maxPlaces = 20
/** Minimum number of Neurons with links to a missing page that make it a gap. */
const topicSize = 3

/**
 * Collects the links of a knowledge base one by one, and reports what is wrong with them.
 *
 * - `orphan`: a Neuron without any link to or from it. Broken links count as links, since they have findings of their own.
 * - `missing-target`: links that lead nowhere. `gap`: the same, where at least three Neurons want the page and nothing has a similar name.
 * - `ambiguous-target`: links that may mean several Neurons.
 * - `contradiction`: a Neuron that `contradicts` another, where neither `supersedes` the other and no third one supersedes both.
 */
export class LinkSurvey {
  readonly #linked = new Set<string>()
  readonly #missing = new Map<string, Target>()
  readonly #ambiguous = new Map<string, Target>()
  readonly #contradictions = new Map<string, [string, string]>()
  readonly #supersededBy = new Map<string, Set<string>>()

  /** Adds a link. Call it in the order of the Neurons that contain the links. */
  add(link: LintedLink): void {
    const { seqId, meaning } = link
    if (meaning === undefined) this.#linked.add(seqId)
    else if ('seqId' in meaning) this.#addEdge(link, meaning.seqId)
    else if ('ambiguous' in meaning) {
      this.#linked.add(seqId)
      const target = noteTarget(this.#ambiguous, link)
      // Links by one ambiguous name share one list, so identity shows whether the list was counted already.
      if (target.last === meaning.ambiguous) return
      target.last = meaning.ambiguous
      for (const each of meaning.ambiguous) {
        this.#linked.add(each)
        target.meanings.add(each)
      }
    } else if ('missing' in meaning || link.form === 'edge') {
      this.#linked.add(seqId)
      noteTarget(this.#missing, link)
    }
  }

  #addEdge({ seqId, type }: LintedLink, target: string): void {
    if (target === seqId) return
    this.#linked.add(seqId).add(target)
    if (type === 'contradicts') {
      const pair: [string, string] = seqId < target ? [seqId, target] : [target, seqId]
      this.#contradictions.set(pair.join(' '), pair)
    } else if (type === 'supersedes') {
      const by = this.#supersededBy.get(target)
      if (by === undefined) this.#supersededBy.set(target, new Set([seqId]))
      else by.add(seqId)
    }
  }

  /**
   * Yields all findings.
   * @param neurons those that may be orphans
   * @param likely returns the Neurons that an unknown key most likely means
   */
  *findings(neurons: Iterable<string>, likely: (key: string) => string[]): Generator<LintFinding> {
    for (const pair of this.#contradictions.values()) {
      if (!this.#isDecided(pair)) yield { rule: 'contradiction', pair }
    }
    for (const { found, isFile } of this.#missing.values()) {
      const meant = isFile ? [] : likely(found.key)
      const isTopic = !isFile && meant.length === 0 && found.neurons >= topicSize
      yield isTopic ? { rule: 'gap', ...found } : { rule: 'missing-target', ...found, likely: meant }
    }
    for (const { found, meanings } of this.#ambiguous.values()) {
      yield { rule: 'ambiguous-target', ...found, meanings: [...meanings].sort() }
    }
    for (const seqId of neurons) if (!this.#linked.has(seqId)) yield { rule: 'orphan', seqId }
  }

  #isDecided([one, other]: [string, string]): boolean {
    const [ofOne, ofOther] = [this.#supersededBy.get(one), this.#supersededBy.get(other)]
    if (ofOne?.has(other) || ofOther?.has(one)) return true
    return ofOne !== undefined && ofOther !== undefined && !ofOne.isDisjointFrom(ofOther)
  }
}

function noteTarget(targets: Map<string, Target>, { key, target, seqId, line, embed }: LintedLink): Target {
  const known: Target = targets.get(key) ?? {
    found: { key, target, links: 0, neurons: 0, places: [] },
    ...{ meanings: new Set(), isFile: true, lastSeqId: '' },
  }
  const { found } = known
  found.links++
  if (known.lastSeqId !== seqId) found.neurons++
  if (found.places.length < maxPlaces) found.places.push({ seqId, line })
  known.lastSeqId = seqId
  // A missing image is not a gap.
  known.isFile &&= embed && /\.[a-z0-9]{1,5}$/i.test(target)
  targets.set(key, known)
  return known
}

/** Returns the number of Neurons that a finding concerns. */
export function impactOf(finding: LintFinding): number {
  switch (finding.rule) {
    case 'orphan':
      return 1
    case 'contradiction':
      return 2
    case 'taken-name':
      return finding.others.length
    case 'ambiguous-target':
      return finding.neurons + finding.meanings.length
    default:
      return finding.neurons
  }
}

/** Returns a SHA-256 (hexadecimal) that identifies the subject of a finding across runs, wherever its links have moved. */
export function findingFingerprint(finding: LintFinding): string {
  return createHash('sha256')
    .update(JSON.stringify([finding.rule, subjectOf(finding)]))
    .digest('hex')
}

function subjectOf(finding: LintFinding): string {
  if (finding.rule === 'orphan') return finding.seqId
  return finding.rule === 'contradiction' ? finding.pair.join(' ') : finding.key
}

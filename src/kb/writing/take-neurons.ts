import { v7 as uuidv7 } from 'uuid'
import type { Oid } from '../../git/objects/object.ts'
import type { Staging } from '../../git/staging.ts'
import { parseCandidate, roomInRecord } from '../../markdown/file/candidate-file.ts'
import { hasReadableSize } from '../../markdown/file/front-matter.ts'
import { editNeuron, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { extractPictures } from '../../markdown/rewrite/embedded-pictures.ts'
import { type Candidate, type Decision, lastVerdict } from '../../rules/candidates/candidate.ts'
import { doorOf, isFirstCome } from '../../rules/neurons/first-come.ts'
import { formatSeqId } from '../../rules/neurons/seq-id.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import type { FileContents, KnowledgeBase } from '../knowledge-base.ts'
import {
  candidatesOfOrigin,
  findCandidate,
  pendingOfFingerprint,
  pendingRemovals,
  wasApproved,
} from '../projection/candidate-index.ts'
import { isBlocked } from '../projection/file-queries.ts'
import type { Projection } from '../projection/projection.ts'
import { documentOfSeqId } from '../projection/version-queries.ts'
import type { Removal } from '../refs/commit-message.ts'
import { nextNumbers, withDecision } from './commits.ts'
import { type LostHistory, noLostHistory } from './lost-history.ts'
import {
  connectorOf,
  type GitCandidateOptions,
  gitCandidate,
  gitFingerprint,
  gitMetadata,
  gitOriginOf,
  madeAgain,
  movedFrom,
  namedCandidate,
  type PushedNeuron,
  PushRefused,
  pageParts,
  revised,
} from './pushed-neurons.ts'
import { type ChangedFiles, followFiles } from './rename/follow-files.ts'
import { type Followed, followRenames } from './rename/follow-renames.ts'
import { namesVisibleTo } from './rename/name-change.ts'

export type TakenNeuron = {
  verb: 'Add' | 'Update' | 'Restore' | 'Remove'
  seqId: string
  title: string
  path: string
  /** Path in the push, if main has the page elsewhere. */
  pushedPath: string | undefined
  /** Path on main of a page that the push moved without a change. */
  movedFrom?: string | undefined
  candidateId: string
  /** Connector of a merged candidate that did not come from a vault. */
  connector: string | undefined
  /** Dismissal that the push overrules. */
  dismissal: Decision | undefined
}

/** Changes that a commit with Neurons makes to the pushed files, and its records for the queue. */
export type LandedPages = {
  files: Map<string, string | null>
  candidates: Candidate[]
  removals: Removal[]
  neurons: TakenNeuron[]
}

/** Options. `actor`: author of the candidates. `lost`: ids assigned before a restore, as the push shows. */
export type TakeOptions = Omit<ChooseOptions, 'parts' | 'used'> & {
  /** Changed files of the same commit that are no Neurons. */
  files?: FileContents
  /** Aliases that Neurons must have in addition to those that their renames need, by seqId. */
  aliases?: ReadonlyMap<string, readonly string[]>
}

/**
 * Adds to every Neuron that was changed with git what it lacks: a seqId, a document id, a candidate, and the names that others
 * link to. A page with the id of a pending candidate for it approves that candidate. Must run within a write, before anything is
 * staged.
 * @throws {PushRefused} if the front matter would exceed its limit
 */
export async function takeNeurons(
  kb: KnowledgeBase,
  staging: Staging,
  pushed: readonly PushedNeuron[],
  options: TakeOptions,
): Promise<LandedPages> {
  const { neurons, aliases } = await followed(kb, staging, pushed, options)
  const landed: LandedPages = { files: new Map(), candidates: [], removals: [], neurons: [] }
  const used = new Set<string>()
  const number = nextNumbers(kb)
  for (const neuron of neurons) {
    const seqId = neuron.seqId ?? formatSeqId(kb.identity.prefix, number())
    await takeNeuron(kb, staging, neuron, {
      ...options,
      seqId,
      keptAliases: [...(aliases.get(seqId) ?? []), ...(options.aliases?.get(seqId) ?? [])],
      landed,
      used,
    })
  }
  return landed
}

/**
 * Returns Neurons with the links that follow renames. A candidate that is {@link isFirstCome} rewrites only as much as its sender may know.
 */
async function followed(
  kb: KnowledgeBase,
  staging: Staging,
  pushed: readonly PushedNeuron[],
  options: TakeOptions,
): Promise<Followed> {
  const { rewriteLinks, defaultAudience } = await kb.settings()
  const moved = await withTheirFiles(kb, pushed, options.files)
  const [limited, reversed] = [new Set<string | undefined>(), new Set<string | undefined>()]
  for (const neuron of moved) {
    const named = neuron.before === undefined ? undefined : namedCandidate(kb.projection.write, neuron, options.lost)
    const record = named && parseCandidate(await staging.readText(named.blob))
    if (record && isFirstCome(record)) limited.add(neuron.seqId)
    if (record?.reverts) reversed.add(neuron.seqId)
  }
  const isTakenBack = (seqId: string) => reversed.has(seqId)
  const isFollowed = (seqId: string) => !limited.has(seqId)
  let result = await followRenames(kb, staging, moved, { rewriteLinks, isFollowed, isTakenBack })
  for (const one of limited) {
    const sight = namesVisibleTo(kb.projection.write, one ?? '', defaultAudience)
    const isFollowed = (seqId: string) => seqId === one
    const next = await followRenames(kb, staging, result.neurons, { rewriteLinks, sight, isFollowed })
    for (const [seqId, kept] of result.aliases) {
      next.aliases.set(seqId, [...kept, ...(next.aliases.get(seqId) ?? [])])
    }
    result = next
  }
  return result
}

/** Adapts the links of moved Neurons, so that they still lead to the same attachments. */
function withTheirFiles(
  kb: KnowledgeBase,
  neurons: readonly PushedNeuron[],
  files: FileContents = new Map(),
): Promise<PushedNeuron[]> {
  const others = [...files].filter(([path]) => !isNeuronPath(path))
  const changed: ChangedFiles = new Map(others.map(([path, content]) => [path, content !== null]))
  const view = { sql: kb.projection.write, parser: kb.parser }
  return Promise.all(
    neurons.map(async (neuron) => {
      const { seqId, before, path, text } = neuron
      if (seqId === undefined || before === undefined || text === null) return neuron
      return { ...neuron, text: await followFiles(view, { seqId, from: before.path, path, text }, changed) }
    }),
  )
}

async function takeNeuron(
  kb: KnowledgeBase,
  staging: Staging,
  neuron: PushedNeuron,
  options: TakeOptions & { seqId: string; keptAliases: readonly string[]; landed: LandedPages; used: Set<string> },
): Promise<void> {
  const { seqId, keptAliases, landed } = options
  const { before, path, text } = neuron
  const parts = await pageParts(neuron, (oid) => staging.readText(oid))
  const { id: candidateId, record, ...chosen } = await chooseCandidate(kb, staging, neuron, { ...options, parts })
  options.used.add(candidateId)
  if (record !== undefined) landed.candidates.push(record)
  if (text === null) {
    landed.removals.push({ seqId, candidateId })
    // Another file may have its path now.
    if (!landed.files.has(path)) landed.files.set(path, null)
  } else {
    const { id, aliases } = parseNeuronFile(text).fields
    const page = editNeuron(text, {
      seqId,
      id: before?.documentId ?? documentOfSeqId(kb.projection.write, seqId) ?? id ?? uuidv7(),
      candidate: candidateId,
      aliases: [...new Set([...aliases, ...keptAliases])],
    })
    if (!hasReadableSize(page)) throw new PushRefused(`${path}: the front matter would be larger than 16 KB`)
    landed.files.set(path, page)
  }
  landed.neurons.push({
    verb: verbOf(neuron),
    seqId,
    title: parts.title,
    path,
    pushedPath: neuron.pushedPath,
    movedFrom: movedFrom(neuron),
    candidateId,
    connector: chosen.connector,
    dismissal: chosen.dismissal,
  })
}

function verbOf({ seqId, before, text }: PushedNeuron): TakenNeuron['verb'] {
  if (text === null) return 'Remove'
  if (before !== undefined) return 'Update'
  return seqId === undefined ? 'Add' : 'Restore'
}

/**
 * Extracts the pictures in the texts of pages that a curator brings or approves to files next to them, which the texts name. A page stays
 * as it is if main has a file in that place. Must run within a write.
 */
export async function takePictures<Page extends { path: string; text: string | null }>(
  { parser, projection }: Pick<KnowledgeBase, 'parser' | 'projection'>,
  pages: readonly Page[],
): Promise<{ pages: Page[]; files: Map<string, Buffer> }> {
  const files = new Map<string, Buffer>()
  const taken = await Promise.all(
    pages.map(async (page) => {
      if (page.text === null) return page
      const { text, pictures } = await extractPictures(parser, page.text)
      const folder = page.path.slice(0, page.path.lastIndexOf('/') + 1)
      const named = [...pictures].map(([name, bytes]) => [folder + name, bytes] as const)
      if (named.some(([path]) => isBlocked(projection.write, path, (own) => own === path))) return page
      for (const [path, bytes] of named) files.set(path, bytes)
      return { ...page, text }
    }),
  )
  return { pages: taken, files }
}

type ChosenCandidate = {
  id: string
  /** Record to write to the queue, if it is new or has changed. */
  record?: Candidate
  /** Connector of a merged candidate that did not come from a vault. */
  connector?: string | undefined
  /** Dismissal that the push overrides. */
  dismissal?: Decision | undefined
}

/** Options. `actor`: author of new candidates. `used`: ids that other Neurons of the same commit use. */
type ChooseOptions = Omit<GitCandidateOptions, 'id'> & {
  lost?: LostHistory
  used: ReadonlySet<string>
}

/**
 * Finds or creates the candidate that a Neuron on main points back to: the one that its page names, if it is pending, dismissed or was lost
 * in a restore; else one that proposes this very page, or that an interrupted attempt of the push left; else a new one. @throws
 * {GanglionError} `record_full`
 */
async function chooseCandidate(
  kb: KnowledgeBase,
  staging: Staging,
  neuron: PushedNeuron,
  { parts, actor, origin, reason, at, lost = noLostHistory, used }: ChooseOptions,
): Promise<ChosenCandidate> {
  const { write: sql } = kb.projection
  const made = { parts, origin, reason, actor, at }
  const named = neuron.text === null ? undefined : namedCandidate(sql, neuron, lost)
  const { removal } = neuron
  const [merged] = neuron.text !== null ? [named?.id] : removal ? [removal] : pendingRemovals(sql, neuron.seqId ?? '')
  if (merged !== undefined && !used.has(merged)) {
    if (named === undefined) return { id: merged }
    const record = parseCandidate(await staging.readText(named.blob))
    const connector = isFirstCome(record) ? doorOf(record) : undefined
    if (named.status !== 'dismissed') return { id: merged, connector }
    const reopen: Decision = {
      action: 'reopen',
      at: at.toISOString(),
      by: actor,
      reason: 'Its page was pushed to main.',
    }
    return { id: merged, connector, record: withDecision(record, reopen), dismissal: lastVerdict(record) }
  }
  const back = lostCandidate(kb, neuron, lost)
  if (back !== undefined && !used.has(back.id)) {
    const text = back.blob === undefined ? null : await staging.readText(back.blob)
    const restored = { id: back.id, parts: await pageParts({ ...neuron, text }, (oid) => staging.readText(oid)) }
    const record = gitCandidate(kb.identity.id, neuron, { ...made, ...restored, reason: madeAgain })
    return { id: back.id, record }
  }
  const same = { connector: connectorOf(origin), fingerprint: gitFingerprint(neuron), target: neuron.seqId }
  const proposed = pendingOfFingerprint(sql, same).find((id) => !used.has(id))
  if (proposed !== undefined) return { id: proposed }
  const left = await leftCandidate(sql, staging, neuron, { ...made, used })
  const record = left ?? gitCandidate(kb.identity.id, neuron, made)
  return { id: record.id, record }
}

/**
 * Returns the candidate of an attempt that was interrupted before it reached main, updated to the page as pushed now: the pusher may have
 * rebased it since.
 */
async function leftCandidate(
  sql: Projection['read'],
  staging: Staging,
  neuron: PushedNeuron,
  { parts, origin, actor, at, used }: Omit<ChooseOptions, 'reason'>,
): Promise<Candidate | undefined> {
  const row = candidatesOfOrigin(sql, connectorOf(origin), gitOriginOf(neuron, origin)).find(
    ({ id, status, removes }) => status === 'pending' && removes === (neuron.blob === undefined) && !used.has(id),
  )
  if (row === undefined) return undefined
  const change = { ...parts, base: neuron.before?.blob ?? null, metadata: gitMetadata(neuron, origin) }
  const record = revised(parseCandidate(await staging.readText(row.blob)), change, { by: actor, at })
  return roomInRecord(record) < 0 ? undefined : record
}

function lostCandidate(
  { projection: { write: sql } }: KnowledgeBase,
  { seqId, text }: PushedNeuron,
  { pages, removals }: LostHistory,
): { id: string; blob: Oid | undefined } | undefined {
  const id = text === null ? removals.get(seqId ?? '') : parseNeuronFile(text).fields.candidate
  const page = id === undefined || text === null ? undefined : pages.get(id)
  if (id === undefined || findCandidate(sql, id) !== undefined || wasApproved(sql, id)) return undefined
  if (text === null) return { id, blob: undefined }
  return page !== undefined && page.seqId === seqId ? { id, blob: page.blob } : undefined
}

import type { Oid } from '../../git/objects/object.ts'
import type { Repository, TreeChange } from '../../git/repository.ts'
import { attachmentsByKey, pathsOfSeqId } from '../../kb/projection/file-queries.ts'
import { namesByKey, namesOfNeuron } from '../../kb/projection/link-queries.ts'
import { namesInFile } from '../../kb/projection/neuron-queries.ts'
import type { Projection } from '../../kb/projection/projection.ts'
import { seqIdsOfDocument } from '../../kb/projection/version-queries.ts'
import { seqIdBefore, wasHolder } from '../../kb/writing/pushed-neurons.ts'
import { type ClaimOf, knownNames, maxNamesakes } from '../../rules/check/check-names.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import { isKnownBy, keptClaim, targetKeys, wasBefore } from '../../rules/links/link-target.ts'
import { writtenLinks } from '../../rules/links/written-link.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { memoized } from '../../system/memoized.ts'
import { pauses } from '../../system/pauses.ts'
import { tooManyLinks } from './check-inbound.ts'

/** Maximum names that are looked up, which takes some seconds. */
const maxKeys = 50_000

type Sql = Projection['read']

/** Facts about unchanged files that a check of changed files needs. */
type Surroundings = {
  /** Unchanged files, reduced to the fields that changed files may clash with or link to. */
  stubs: CheckedFile[]
  /** seqIds by path: of the changed files at the pusher's base, and of the reduced unchanged files. */
  previousSeqIds: Map<string, string>
  /** Findings about links that are too many to check. */
  findings: Finding[]
}

type PushedFiles = {
  changes: readonly TreeChange[]
  repository: Repository
  /** Base of the push, if main has moved on: the pusher is not responsible for changes since then. */
  base: Oid | undefined
  /** Paths of the changed Neurons on main by seqId, from which their links to files resolve. */
  previousPaths: ReadonlyMap<string, string>
}

/** Reads the facts about unchanged files that the rules need. The time depends on the size of the push, not of the knowledge base. */
export async function readSurroundings(
  sql: Sql,
  { changes, repository, base, previousPaths }: PushedFiles,
  files: CheckedFile[],
): Promise<Surroundings> {
  const changedPaths = new Set(changes.map(({ path }) => path))
  const pushed = new Set(files.map(({ neuron }) => neuron?.fields.seqId))
  const stubs = new Map<string, CheckedFile>()
  const previousSeqIds = new Map<string, string>()
  const looked = new Set<string>()
  const pause = pauses()

  const addHolders = async (seqId: string) => {
    if (looked.has(seqId)) return
    looked.add(seqId)
    for (const path of pathsOfSeqId(sql, seqId)) {
      if (changedPaths.has(path)) continue
      const hasMoved = base !== undefined && pushed.has(seqId)
      if (hasMoved && !(await wasHolder(sql, { path, seqId }, { repository, base }))) continue
      previousSeqIds.set(path, seqId)
      stubs.set(path, stubOf(sql, path, seqId))
    }
  }

  for (const change of changes) {
    const seqId = await seqIdBefore(sql, change, (oid) => repository.readTextOnce(oid))
    if (seqId === undefined) continue
    previousSeqIds.set(change.path, seqId)
    await addHolders(seqId)
    await pause()
  }
  for (const { neuron } of files) {
    const { seqId, id } = neuron?.fields ?? {}
    if (seqId !== undefined) await addHolders(seqId)
    if (id !== undefined) for (const holder of seqIdsOfDocument(sql, id)) await addHolders(holder)
    await pause()
  }
  const keys = linkedKeys(files, previousPaths)
  for (const key of keys.all) {
    for (const { seqId } of namesByKey(sql, key)) await addHolders(seqId)
    for (const path of attachmentsByKey(sql, key)) {
      if (changedPaths.has(path)) continue
      stubs.set(path, { path, size: 0 })
      break
    }
    await pause()
  }
  for (const holder of await firstHolders(sql, files)) await addHolders(holder)
  return { stubs: [...stubs.values()], previousSeqIds, findings: keys.findings }
}

/** Returns a look-up of the claims that Neurons have on main. */
export function claimsIn(sql: Sql): ClaimOf {
  const names = memoized((seqId: string) => namesOfNeuron(sql, seqId))
  return (seqId, name) => keptClaim(names(seqId), name)
}

/** Returns other Neurons that had the names of some pages first, as many as a warning names. */
export async function firstHolders(sql: Sql, files: readonly CheckedFile[]): Promise<Set<string>> {
  const own = new Set(files.map(({ neuron }) => neuron?.fields.seqId))
  const holders = new Set<string>()
  const pause = pauses()
  for (const key of new Set(files.flatMap((file) => [...knownNames(file).keys()]))) {
    const others = namesByKey(sql, key)
      .filter(({ seqId, kind }) => isKnownBy(kind) && !own.has(seqId))
      .sort((a, b) => (wasBefore(a, b) ? -1 : 1))
    const first = new Set(others.map(({ seqId }) => seqId)).values().take(maxNamesakes)
    for (const seqId of first) holders.add(seqId)
    await pause()
  }
  return holders
}

/** Returns the names that the changed files link to. Links beyond the limit are not checked, and one finding says so. */
function linkedKeys(
  files: CheckedFile[],
  previousPaths: ReadonlyMap<string, string>,
): { all: Set<string>; findings: Finding[] } {
  const all = new Set<string>()
  const findings: Finding[] = []
  for (const [index, file] of files.entries()) {
    if (all.size > maxKeys) {
      const { neuron } = file
      files[index] = { ...file, links: [], ...(neuron && { neuron: { ...neuron, propertyLinks: [] } }) }
      const message = `The push has links to more than ${maxKeys} names: those from here on are not looked at.`
      if (findings.length === 0) findings.push(tooManyLinks(file.path, message))
      continue
    }
    const properties = file.neuron?.propertyLinks ?? []
    const written = writtenLinks({ edges: file.neuron?.fields.edges ?? [], properties }, file.links ?? [])
    for (const { kb, target, form } of written) {
      if (kb !== null) continue
      for (const from of new Set([file.path, previousPaths.get(file.neuron?.fields.seqId ?? '') ?? file.path])) {
        const { key, bareKey } = targetKeys({ target, form, from })
        all.add(key)
        if (bareKey !== undefined) all.add(bareKey)
      }
    }
  }
  return { all, findings }
}

/** Reduces a Neuron to the names that others may link to; a copy to its path and seqId. */
export function stubOf(sql: Sql, path: string, seqId: string): CheckedFile {
  const known = namesInFile(sql, seqId)
  const names = known?.path === path ? known : undefined
  const fields = {
    seqId,
    ...(names?.documentId === undefined ? {} : { id: names.documentId }),
    aliases: names?.aliases ?? [],
    tags: [],
    edges: [],
    sources: [],
    noteShared: false,
  }
  return { path, size: 0, neuron: { fields, title: names?.title, findings: [], content: '', contentLine: 1 } }
}

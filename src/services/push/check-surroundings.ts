import type { CheckedFile } from '../../knowledge/checked-file.ts'
import { targetKeys } from '../../knowledge/link-target.ts'
import type { Finding } from '../../knowledge/neuron.ts'
import { namesByKey } from '../../store/link-queries.ts'
import {
  attachmentsByKey,
  namesInFile,
  pathsOfSeqId,
  seqIdAtPath,
  seqIdsOfDocument,
} from '../../store/neuron-queries.ts'
import type { Projection } from '../../store/projection.ts'
import { pauses } from '../pauses.ts'

/** As many names as are looked up in some seconds. */
const maxKeys = 50_000

type Sql = Projection['read']

/** What a check of changed files must know of the others. */
type Surroundings = {
  /** Files that the push leaves as they are, with no more of them than what the changed ones may clash with or link to. */
  stubs: CheckedFile[]
  /** Of the changed files and the stubs, as main has them. */
  previousSeqIds: Map<string, string>
  /** Links that are too many to look at. */
  findings: Finding[]
}

/** Reads what the rules need of the files that a push does not change. Takes time by the push, not by the knowledge base. */
export async function readSurroundings(
  sql: Sql,
  changedPaths: ReadonlySet<string>,
  files: CheckedFile[],
): Promise<Surroundings> {
  const stubs = new Map<string, CheckedFile>()
  const previousSeqIds = new Map<string, string>()
  const looked = new Set<string>()
  const pause = pauses()

  const addHolders = (seqId: string) => {
    if (looked.has(seqId)) return
    looked.add(seqId)
    for (const path of pathsOfSeqId(sql, seqId)) {
      if (changedPaths.has(path)) continue
      previousSeqIds.set(path, seqId)
      stubs.set(path, stubOf(sql, path, seqId))
    }
  }

  for (const path of changedPaths) {
    const seqId = seqIdAtPath(sql, path)
    if (seqId === undefined) continue
    previousSeqIds.set(path, seqId)
    addHolders(seqId)
    await pause()
  }
  for (const { neuron } of files) {
    const { seqId, id } = neuron?.fields ?? {}
    if (seqId !== undefined) addHolders(seqId)
    if (id !== undefined) for (const holder of seqIdsOfDocument(sql, id)) addHolders(holder)
    await pause()
  }
  const keys = linkedKeys(files)
  for (const key of keys.all) {
    for (const { seqId } of namesByKey(sql, key)) addHolders(seqId)
    for (const path of attachmentsByKey(sql, key)) {
      if (changedPaths.has(path)) continue
      stubs.set(path, { path, size: 0 })
      break
    }
    await pause()
  }
  return { stubs: [...stubs.values()], previousSeqIds, findings: keys.findings }
}

/** The names that the changed files link to. Files beyond the bound lose their links, and one finding says so. */
function linkedKeys(files: CheckedFile[]): { all: Set<string>; findings: Finding[] } {
  const all = new Set<string>()
  const findings: Finding[] = []
  for (const [index, file] of files.entries()) {
    if (all.size > maxKeys) {
      files[index] = { ...file, links: [] }
      const message = `The push has links to more than ${maxKeys} names: those from here on are not looked at.`
      if (findings.length === 0) {
        findings.push({ rule: 'too-many-links', severity: 'warning', path: file.path, line: 1, message })
      }
      continue
    }
    const targets = [
      ...(file.links ?? []).flatMap(({ kb, target }) => (kb === undefined ? [target] : [])),
      ...(file.neuron?.fields.edges ?? []).map(({ target }) => target),
    ]
    for (const { key, bareKey } of targets.map(targetKeys)) {
      all.add(key)
      if (bareKey !== undefined) all.add(bareKey)
    }
  }
  return { all, findings }
}

/** A Neuron with no more than what others may mean it by; a copy goes by its path and seqId only. */
function stubOf(sql: Sql, path: string, seqId: string): CheckedFile {
  const known = namesInFile(sql, seqId)
  const names = known?.path === path ? known : undefined
  const fields = {
    seqId,
    ...(names?.documentId === undefined ? {} : { id: names.documentId }),
    ...(names?.title === undefined ? {} : { title: names.title }),
    aliases: names?.aliases ?? [],
    tags: [],
    edges: [],
    sources: [],
    noteShared: false,
  }
  return { path, size: 0, neuron: { fields, findings: [], content: '', contentLine: 1 } }
}

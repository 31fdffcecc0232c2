import { isDeepStrictEqual } from 'node:util'
import type { TreeChange } from '../../git/repository.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { mergePages } from '../../markdown/merge/merge-page.ts'
import { type Conflict, mergeText } from '../../rules/neurons/merge.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { pathKey } from '../../rules/paths/portable-path.ts'
import { oneLine } from '../../rules/text/lines.ts'
import type { FileContents } from '../knowledge-base.ts'
import { freePagePath } from '../new-path.ts'
import { blobAtPath, filesAtKey } from '../projection/file-queries.ts'
import { seqIdsOfDocument } from '../projection/version-queries.ts'
import type { Origin, PushedNeuron } from './pushed-neurons.ts'
import { type PushView, type SubmittedNeuron, submittedNeurons } from './submitted-neurons.ts'

/** Changes that a push whose base is behind main makes to the present main. */
export type MergedPush = {
  /** Changed Neurons, without changes that main already has. */
  neurons: PushedNeuron[]
  /** Changed files that are no Neurons, and old paths of moved Neurons. */
  files: FileContents
  /** Findings that prevent the merge. */
  conflicts: Finding[]
}

/** Merges a push whose base is behind main, file by file, as approvals merge candidates. */
export async function mergePush(
  view: PushView,
  { changes, origin }: { changes: readonly TreeChange[]; origin: Origin },
): Promise<MergedPush> {
  const submitted = await submittedNeurons(view, changes, origin)
  const files = new Map<string, string | { oid: string } | null>()
  const conflicts: Finding[] = []
  const refuse = (path: string, message: string, line = 1) =>
    conflicts.push({ rule: 'conflict', severity: 'error', path, line, message })

  for (const change of changes) {
    const blocking = change.after === undefined ? undefined : fileAbove(view, change.path)
    if (blocking !== undefined) refuse(change.path, `Main has the file ${oneLine(blocking, 200)} where your folder is.`)
    if (isNeuronPath(change.path)) continue
    const merged = await mergeFile(view, change)
    if (typeof merged === 'string') refuse(change.path, merged)
    else if (merged.content !== undefined) files.set(change.path, merged.content)
  }

  const leaving = new Set<string>([...files].flatMap(([path, content]) => (content === null ? [path] : [])))
  for (const neuron of submitted) if (leavesItsPlace(neuron)) leaving.add(neuron.before.path)
  const written = new Set([...files].flatMap(([path, content]) => (content === null ? [] : [pathKey(path)])))
  const isTaken = (key: string) => written.has(key) || filesAtKey(view.sql, key).some((path) => !leaving.has(path))

  const neurons: PushedNeuron[] = []
  for (const neuron of submitted) {
    const merged = await mergeNeuron(view, neuron, isTaken)
    if ('problem' in merged) refuse(neuron.path, merged.problem, merged.line)
    else if (merged.neuron !== undefined) {
      const { path, before, text } = merged.neuron
      if (text !== null) written.add(pathKey(path))
      if (before !== undefined && before.path !== path) files.set(before.path, null)
      neurons.push(merged.neuron)
    }
  }
  for (const { path } of neurons) files.delete(path)
  return { neurons, files, conflicts }
}

/** Returns a file on main in place of a folder that a path needs. */
function fileAbove({ sql }: PushView, path: string): string | undefined {
  const names = path.split('/')
  const folders = names.slice(1).map((_, at) => names.slice(0, at + 1).join('/'))
  return folders.find((folder) => blobAtPath(sql, folder) !== undefined)
}

type MergedNeuron = { neuron: PushedNeuron | undefined } | { problem: string; line?: number }

async function mergeNeuron(
  view: PushView,
  submitted: SubmittedNeuron,
  isTaken: (key: string) => boolean,
): Promise<MergedNeuron> {
  const { base, ...pushed } = submitted
  const { before, path, text } = pushed
  if (text === null) return removal(view, submitted)
  if (before === undefined) {
    if (base !== undefined) return { problem: 'Main has removed the page since.' }
    const { id } = parseNeuronFile(text).fields
    const [owner] = id === undefined ? [] : seqIdsOfDocument(view.sql, id).filter((seqId) => seqId !== pushed.seqId)
    if (owner !== undefined) return { problem: `Its id is that of ${owner}.` }
    return { neuron: at(pushed, freePagePath(path, isTaken)) }
  }
  const place = placeOf(submitted)
  if (place === undefined) return { problem: `Main has moved the page to ${oneLine(before.path, 200)} since.` }
  if (place !== before.path && isTaken(pathKey(place))) return { problem: 'Main has another file there since.' }
  const current = await view.readText(before.blob)
  const merged = mergePages({ base: base?.text ?? '', current, proposed: text })
  if ('conflicts' in merged) return conflictWith(merged.conflicts)
  if (merged.text === current && place === before.path) return { neuron: undefined }
  if (parseNeuronFile(merged.text).findings.some(({ severity }) => severity === 'error')) {
    return { problem: 'Main has changed the front matter since, and both changes together break it.' }
  }
  return { neuron: at({ ...pushed, text: merged.text }, place) }
}

function at(neuron: PushedNeuron, path: string): PushedNeuron {
  return path === neuron.path ? neuron : { ...neuron, path, pushedPath: neuron.path }
}

function leavesItsPlace(neuron: SubmittedNeuron): neuron is SubmittedNeuron & { before: object } {
  return (
    neuron.before !== undefined &&
    (neuron.text === null || (placeOf(neuron) ?? neuron.before.path) !== neuron.before.path)
  )
}

/** Returns the path of the merged page; undefined if both sides moved it to different places. */
function placeOf({ before, path, base }: SubmittedNeuron): string | undefined {
  if (before === undefined) return path
  if (base === undefined || base.path === path) return before.path
  return before.path === base.path || before.path === path ? path : undefined
}

/**
 * Removes a page. A change of the page on main since is a conflict, because the pusher has not seen it. Fields that the server adds do not
 * count.
 */
async function removal({ readText }: PushView, { base, ...pushed }: SubmittedNeuron): Promise<MergedNeuron> {
  const { before } = pushed
  if (before === undefined) return { neuron: undefined }
  const current = await readText(before.blob)
  if (base !== undefined && !isDeepStrictEqual(written(base.text), written(current))) {
    return { problem: 'You remove the page, and main has changed it since.' }
  }
  return { neuron: at(pushed, before.path) }
}

function written(page: string) {
  const { fields, extra, content } = parseNeuronFile(page)
  const { seqId: _seqId, id: _id, candidate: _candidate, aliases: _aliases, ...rest } = fields
  return { rest, extra, content }
}

function conflictWith([conflict]: readonly Conflict[]): MergedNeuron {
  if (conflict === undefined) return { problem: 'It conflicts with main.' }
  const shown = (text: string) => (text.trim() === '' ? 'nothing' : `"${oneLine(text.trim(), 100)}"`)
  const { line, current, proposed } = conflict
  return { line, problem: `It conflicts with main, which has ${shown(current)} there, and you ${shown(proposed)}.` }
}

/** Merges a file that is no page. Returns its new content, undefined if main has it already, or the reason of a conflict. */
async function mergeFile(
  view: PushView,
  { path, before, after }: TreeChange,
): Promise<{ content?: string | { oid: string } | null } | string> {
  const current = blobAtPath(view.sql, path)
  if (current === after) return {}
  if (current === undefined && before === undefined) {
    const [other] = filesAtKey(view.sql, pathKey(path))
    if (other !== undefined) return `Main has the file ${oneLine(other, 200)} since, which is in the way.`
    return { content: { oid: after ?? '' } }
  }
  if (current === before) return { content: after === undefined ? null : { oid: after } }
  if (after === undefined) return 'You remove the file, and main has changed it since.'
  if (current === undefined) return 'Main has removed the file since.'
  const read = (oid: string | undefined) => (oid === undefined ? '' : view.readText(oid))
  const [base, now, proposed] = await Promise.all([read(before), read(current), read(after)])
  const isText = ![base, now, proposed].some((text) => /[\0\ufffd]/.test(text))
  const merged = isText ? mergeText(base, now, proposed) : { conflicts: [] }
  if ('conflicts' in merged) return 'Main has changed the file since, in the same place.'
  const isBroken = path === 'kb.yaml' && parseKbFile(merged.text).problems.some(({ severity }) => severity === 'error')
  return isBroken ? 'Main has changed the file since, and both changes together break it.' : { content: merged.text }
}

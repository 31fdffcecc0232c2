import { maxTestFiles } from '../../contract/answer-tests.ts'
import { GitError } from '../../git/git-error.ts'
import { type ObjectInfo, type Oid, submoduleMode } from '../../git/objects/object.ts'
import { PushTooLarge } from '../../git/pushed-objects.ts'
import type { Repository, TreeChange } from '../../git/repository.ts'
import { viewAs } from '../../kb/access/kb-view.ts'
import { changedIdentity, type KbIdentity } from '../../kb/kb-identity.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { pendingTitled } from '../../kb/projection/candidate-queue.ts'
import { audiencesOfOthers, namesInFile } from '../../kb/projection/neuron-queries.ts'
import type { Projection } from '../../kb/projection/projection.ts'
import { seqIdsOfDocument, wasHeld } from '../../kb/projection/version-queries.ts'
import { type LostHistory, noLostHistory } from '../../kb/writing/lost-history.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import { isTestPath } from '../../markdown/file/test-file.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { checkKb, hasOwnAudience } from '../../rules/check/check-kb.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import type { SettingsProblem } from '../../rules/kb-settings.ts'
import { exactKey, placeOf } from '../../rules/links/link-target.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { parseSeqId } from '../../rules/neurons/seq-id.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { checkOtherFile, isReadByCheck, parsePageBytes } from '../clone-check/parse-pushed-page.ts'
import { maxParsedBytes } from '../clone-check/read-checkout.ts'
import { checkInboundLinks, checkLostHeadings, linksToNeuron } from './check-inbound.ts'
import { checkOpenedFolders, checkShownFiles } from './check-shown-files.ts'
import { claimsIn, readSurroundings } from './check-surroundings.ts'

/** Maximum files that are read at a time. */
const chunkFiles = 50
const maxTextBytes = 256 * 1024 * 1024
/** Rule that is checked on trees instead, where whole folders can be compared. */
const otherwiseFound = 'path-collision'

type TipOptions = {
  repository: Repository
  changes: readonly TreeChange[]
  /** Commit of main that the changes are based on; main itself by default. */
  base?: Oid
  /** Reads the ids that were assigned before a restore, as the push shows. */
  lost?: () => Promise<LostHistory>
}

/** Returns the findings for the files that a push changes, in the state of its last commit. Reads everything else from the projection. */
export async function checkTip(kb: KnowledgeBase, options: TipOptions): Promise<Finding[]> {
  const { repository, changes } = options
  const files = await readChanged(repository, changes, kb.parser)
  const problems = await settingsProblems(kb.identity, repository, changes)
  return checkFiles(kb, files, { ...options, problems })
}

/** Returns the findings for changed files, whether they are in git yet or not. Reads everything else from the projection. */
export async function checkFiles(
  kb: KnowledgeBase,
  files: CheckedFile[],
  {
    repository,
    changes,
    base,
    problems = [],
    lost = async () => noLostHistory,
  }: TipOptions & { problems?: readonly SettingsProblem[] },
): Promise<Finding[]> {
  const { inlineTags, defaultAudience } = await kb.settings()
  return kb.projection.withSnapshot(async (sql) => {
    const { prefix } = kb.identity
    const changedPaths = new Set(changes.map(({ path }) => path))
    const behind = kb.projection.heads(sql).main === base ? undefined : base
    const previousPaths = pathsBefore(sql, files)
    const around = await readSurroundings(sql, { changes, repository, base: behind, previousPaths }, files)
    const { stubs, previousSeqIds, findings } = around
    const previousNames = keptNames(sql, files)
    const claimOf = claimsIn(sql)
    const own = new Set(files.flatMap(({ neuron }) => neuron?.fields.seqId ?? []))
    const others = files.some(hasOwnAudience) ? audiencesOfOthers(sql, own) : []
    const audiences = [...defaultAudience, ...others]
    const options = { prefix, previousSeqIds, previousNames, previousPaths, inlineTags, audiences, claimOf }
    const found = checkKb([...files, ...stubs], problems, options)
    return [
      ...found.filter(({ path, rule }) => changedPaths.has(path) && rule !== otherwiseFound),
      ...(await unknownSeqIds(sql, files, { prefix, floor: kb.projection.seqFloor(), lost })),
      ...usedIds(sql, [...files, ...stubs], changedPaths),
      ...waitingPages(sql, files),
      ...(await checkInboundLinks(sql, changedPaths, files)),
      ...(await checkShownFiles(sql, changes, files)),
      ...(await checkOpenedFolders(sql, await viewAs(kb, { audience: 'tool', sql }), files)),
      ...(await checkLostHeadings(sql, { repository, changes, parser: kb.parser }, files)),
      ...findings,
    ]
  })
}

/** Returns the paths on main of the Neurons that a push changes, by seqId. */
function pathsBefore(sql: Projection['read'], files: readonly CheckedFile[]): Map<string, string> {
  const seqIds = files.flatMap(({ neuron }) => neuron?.fields.seqId ?? [])
  return new Map(
    seqIds.flatMap((seqId) => {
      const path = namesInFile(sql, seqId)?.path
      return path === undefined ? [] : [[seqId, path]]
    }),
  )
}

/**
 * Returns the names that each Neuron keeps, by seqId: its title, and if it is renamed or moved, the names that links use. An alias that the
 * push removes is gone.
 */
function keptNames(sql: Projection['read'], files: readonly CheckedFile[]): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const { path, neuron } of files) {
    const { seqId, title } = neuron?.fields ?? {}
    const known = seqId === undefined ? undefined : namesInFile(sql, seqId)
    if (seqId === undefined || known === undefined) continue
    const isSame = known.path === path && known.title === title
    const kept = new Set(neuron?.fields.aliases.map(exactKey))
    const gone = new Set(known.aliases.map(exactKey).filter((alias) => !kept.has(alias)))
    const links = isSame ? [] : linksToNeuron(sql, seqId).found
    const called = links.map((link) => placeOf(link) ?? link.target)
    const targets = called.filter((name) => !gone.has(exactKey(name)))
    names.set(seqId, [...new Set([...(known.title === undefined ? [] : [known.title]), ...targets])])
  }
  return names
}

async function readChanged(
  repository: Repository,
  changes: readonly TreeChange[],
  parser: ParserPool,
): Promise<CheckedFile[]> {
  const infos = await repository.infos(changes.flatMap(({ after }) => after ?? []))
  const changed = changes.flatMap(({ path, after, isSubmodule = false }): ChangedFile[] => {
    if (after === undefined) return []
    const info = infos.get(after)
    if (info === undefined && !isSubmodule) throw new GitError('missing-object', `${after} is not in the repository`)
    return [{ path, oid: after, type: undefined, size: 0, ...info }]
  })
  const textBytes = changed.filter(isPage).reduce((sum, { size }) => sum + size, 0)
  if (changed.filter(({ path }) => isTestPath(path)).length > maxTestFiles)
    throw new PushTooLarge(`The push changes more than ${maxTestFiles} files of answer tests: push it in parts.`)
  if (textBytes > maxTextBytes) throw new PushTooLarge('The push changes too much text: push it in parts.')
  const read = async (file: ChangedFile): Promise<CheckedFile> => {
    const { path, oid, type, size } = file
    if (type !== 'blob') return { path, oid, size: 0, mode: submoduleMode }
    if (!isNeuronPath(path)) return { path, oid, size, findings: await contentFindings(repository, file) }
    if (!isPage(file)) return { path, oid, size }
    const { data } = await repository.read(oid)
    const { neuron, links } = await parsePageBytes(data, parser)
    // Drops the content, which is most of a page and no rule needs.
    return { path, oid, size, neuron: { ...neuron, content: '' }, links }
  }
  const files: CheckedFile[] = []
  for (let start = 0; start < changed.length; start += chunkFiles) {
    files.push(...(await Promise.all(changed.slice(start, start + chunkFiles).map(read))))
  }
  return files
}

async function contentFindings(
  repository: Repository,
  { path, oid, size }: ChangedFile,
): Promise<NonNullable<CheckedFile['findings']>> {
  return isReadByCheck({ path, size }) ? checkOtherFile(path, await repository.readTextOnce(oid)) : []
}

type ChangedFile = { path: string; oid: Oid; type: ObjectInfo['type'] | undefined; size: number }

/** True if a file must be read: a rule examines its text, and its size alone is not an error. */
function isPage({ path, type, size }: ChangedFile): boolean {
  return type === 'blob' && isNeuronPath(path) && size <= maxParsedBytes
}

/**
 * Finds new Neurons with a seqId that the server did not assign. A Neuron that was deleted, or lost in a restore, may return with its own.
 */
async function unknownSeqIds(
  sql: Projection['read'],
  files: readonly CheckedFile[],
  { prefix, floor, lost }: { prefix: string; floor: number; lost: () => Promise<LostHistory> },
): Promise<Finding[]> {
  const unknown = files.flatMap(({ path, neuron }) => {
    const { seqId } = neuron?.fields ?? {}
    const parsed = seqId === undefined ? undefined : parseSeqId(seqId)
    if (seqId === undefined || parsed?.prefix !== prefix || wasHeld(sql, seqId)) return []
    return [{ path, seqId, mayBeLost: parsed.number <= floor }]
  })
  const known = unknown.some(({ mayBeLost }) => mayBeLost) ? (await lost()).seqIds : new Set()
  return unknown.flatMap(({ path, seqId, mayBeLost }): Finding[] => {
    if (known.has(seqId)) return []
    const unproven = mayBeLost ? ' Or push the commits of the server that gave it, if a restore has lost them.' : ''
    const message = `The seqId ${seqId} was never given: leave it out, and the server gives one.${unproven}`
    return [{ rule: 'unknown-seq-id', severity: 'error', path, line: 1, message }]
  })
}

/** Finds ids of deleted Neurons in pages that are not that Neuron restored. */
function usedIds(sql: Projection['read'], files: readonly CheckedFile[], changedPaths: ReadonlySet<string>): Finding[] {
  const holders = Map.groupBy(files, ({ neuron }) => neuron?.fields.id?.toLowerCase())
  return files.flatMap(({ path, neuron }): Finding[] => {
    const { id, seqId } = neuron?.fields ?? {}
    // A duplicate id is reported by another rule.
    if (id === undefined || !changedPaths.has(path) || holders.get(id.toLowerCase())?.length !== 1) return []
    const [owner] = seqIdsOfDocument(sql, id).filter((holder) => holder !== seqId)
    if (owner === undefined) return []
    const message = `The id ${oneLine(id, 100)} is that of ${owner}: give the page that seqId back, or leave its id out.`
    return [{ rule: 'used-id', severity: 'error', path, line: 1, message }]
  })
}

/** Finds new pages that a pending candidate proposes as well; it stays pending unless the page names it. */
function waitingPages(sql: Projection['read'], files: readonly CheckedFile[]): Finding[] {
  return files.flatMap(({ path, neuron }): Finding[] => {
    const { title, fields } = neuron ?? {}
    if (title === undefined || fields === undefined || (fields.seqId ?? fields.candidate) !== undefined) return []
    const waiting = pendingTitled(sql, title).find(({ connector }) => connector !== 'git')
    if (waiting === undefined) return []
    const message = `A candidate of this title waits in the queue. If this is its page, add the line "candidate: ${waiting.id}", which approves it.`
    return [{ rule: 'waiting-candidate', severity: 'warning', path, line: 1, message }]
  })
}

/** Maximum bytes of a file; a larger one is an error by itself. */
const maxSettingsBytes = 1024 * 1024

/** Returns the problems of `kb.yaml`, if the push changes it. */
export async function settingsProblems(
  identity: KbIdentity,
  repository: Repository,
  changes: readonly TreeChange[],
): Promise<SettingsProblem[]> {
  const change = changes.find(({ path }) => path === 'kb.yaml')
  if (change === undefined) return []
  if (change.after === undefined) {
    return [{ path: 'kb.yaml', severity: 'error', message: 'must not be removed' }]
  }
  const { type, size = 0 } = (await repository.infos([change.after])).get(change.after) ?? {}
  const isReadable = type === 'blob' && size <= maxSettingsBytes
  return problemsInSettings(identity, isReadable ? await repository.readTextOnce(change.after) : '')
}

export function problemsInSettings(identity: KbIdentity, text: string): SettingsProblem[] {
  const { settings, problems } = parseKbFile(text)
  return [...problems, ...changedIdentity(identity, settings)]
}

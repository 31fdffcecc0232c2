import { longTimeLimit, runGit } from '../../git/native/git-process.ts'
import {
  accessIn,
  formatNeuron,
  type NeuronFile,
  parseNeuronFile,
  shownContent,
} from '../../markdown/file/neuron-file.ts'
import { pauses } from '../../system/pauses.ts'
import type { KbView } from '../access/kb-view.ts'
import { type NamedSources, shownFields } from '../access/shown-fields.ts'
import {
  commitAt,
  lastBlobUpTo,
  mainCommitsBetween,
  type PlacedCommit,
  type VersionChange,
  versionsBetween,
} from '../projection/main-changes.ts'
import type { MainTables } from '../projection/projection.ts'
import { commitMessage, committer } from '../refs/commit-message.ts'

/** Blobs by path. */
type Files = Readonly<Record<string, string>>

export type ShownHistoryRequest = {
  sql: MainTables
  view: KbView
  named: NamedSources
  /** Visible files that are no Neurons. */
  files: Files
  /** Position on main. */
  upTo: number
}

/** Trailer of each commit of an audience's clone: the commit of `main` that it comes from. */
export const mainCommit = 'Main-Commit'

/** Maximum new files whose earlier presence on main is looked up. With more, the clone is rebuilt. */
const maxAdded = 100

/** Content of a clone: main up to a position, its files, and the Sources that its pages name or hide. */
export type ShownBefore = {
  position: number
  files: Files
  sources: Readonly<Record<string, boolean>>
  head: string | undefined
}

/** Effect of one commit on one visible Neuron or file. A Neuron is written as text, a file as its blob. */
type Change = { subject: string; removed?: string; written?: { path: string } & ({ blob: string } | { text: string }) }

/** Commits as a stream in the format of git-fast-import(1), oldest first; empty if there are none. */
export type ImportStream = AsyncGenerator<string, void>

/** Returns the commits of an audience's clone, or those after its present content. */
export async function* shownHistory(
  request: ShownHistoryRequest,
  { position: after, head }: Pick<ShownBefore, 'position' | 'head'> = { position: 0, head: undefined },
): ImportStream {
  const { sql, upTo } = request
  const commits = mainCommitsBetween(sql, after, upTo)
  const ofFiles = await fileChanges(request, after, commits)
  const ofPage = pageChanges(request)
  const versions = versionsBetween(sql, after, upTo)
  const pause = pauses()
  let version = versions.next().value
  let isFirst = true
  for (const commit of commits) {
    const made: Change[] = []
    for (; version?.position === commit.position; version = versions.next().value) {
      await pause()
      const change = await ofPage(version)
      if (change !== undefined) made.push(change)
    }
    made.push(...(ofFiles.get(commit.position) ?? []))
    if (made.length === 0) continue
    yield toCommit(commit, made, isFirst ? head : undefined)
    isFirst = false
  }
  if (!isFirst) yield 'done\n'
}

/**
 * Returns the commits after a clone's content, or undefined if it must be rebuilt: part of it is now hidden or another file, a Source that
 * it names is now hidden or the reverse, or the history of `main` contains something that only now is visible.
 */
export async function laterHistory(
  request: ShownHistoryRequest,
  before: ShownBefore,
): Promise<ImportStream | undefined> {
  const { position, files, sources } = before
  await request.named.look(Object.keys(sources))
  if (Object.entries(sources).some(([id, isNamed]) => request.named.known.get(id) !== isNamed)) return undefined
  const added = Object.keys(request.files).filter((path) => !Object.hasOwn(files, path))
  const isOther = ([path, blob]: [string, string]) => request.files[path] !== blob
  if (Object.entries(files).some(isOther) || (await isAnyTurned(request, position))) return undefined
  return (await hadAny(request, position, added)) ? undefined : shownHistory(request, before)
}

/** True if main, up to a position, ever had a file at one of these paths. */
async function hadAny({ sql, view }: ShownHistoryRequest, position: number, paths: string[]): Promise<boolean> {
  const commit = commitAt(sql, position)
  if (paths.length === 0 || commit === undefined) return false
  if (paths.length > maxAdded) return true
  const command = ['--literal-pathspecs', 'log', '-1', '--first-parent', '--format=%H', commit, '--', ...paths]
  return (await runGit(view.kb.repository.gitDir, command, { timeLimit: longTimeLimit })) !== ''
}

/** True if a Neuron that main had at a position was hidden then and is visible now, or the reverse. */
async function isAnyTurned({ sql, view, upTo }: ShownHistoryRequest, position: number): Promise<boolean> {
  const pause = pauses()
  const known = new Set<string>()
  for (const { seqId } of versionsBetween(sql, position, upTo)) {
    await pause()
    if (known.has(seqId)) continue
    known.add(seqId)
    const blob = lastBlobUpTo(sql, seqId, position)
    if (blob === undefined) continue
    const wasShown = (await visiblePage(view, blob)) !== undefined
    if (wasShown !== (await view.seesHistory(seqId))) return true
  }
  return false
}

/** Returns a version of a page, if the audience may see it. */
async function visiblePage(view: KbView, blob: string): Promise<NeuronFile | undefined> {
  const page = parseNeuronFile(await view.kb.repository.readTextOnce(blob))
  return view.sees(accessIn(page, await view.kb.settings())) ? page : undefined
}

/** Formats a page from the fields that the API shows to the audience: the bytes of its blob never leave. */
async function textFor({ view, named }: ShownHistoryRequest, page: NeuronFile): Promise<string> {
  const { owner, properties, ...fields } = await shownFields(view, page, named)
  return formatNeuron(fields, shownContent(page), { owner, ...properties })
}

/** Returns a function that gives the effect of a version on Neurons visible both then and now. Call it in the order of versions. */
function pageChanges(request: ShownHistoryRequest): (version: VersionChange) => Promise<Change | undefined> {
  const { view } = request
  const pages = new Map<string, { isShown: boolean; path: string | undefined }>()
  return async ({ seqId, is, was }) => {
    const known = pages.get(seqId) ?? {
      isShown: await view.seesHistory(seqId),
      path: was && (await visiblePage(view, was.blob)) && was.path,
    }
    const page = known.isShown && is ? await visiblePage(view, is.blob) : undefined
    const path = page && is?.path
    pages.set(seqId, { ...known, path })
    if (!known.isShown || (known.path === undefined && path === undefined)) return undefined
    const act = path === undefined ? 'Remove' : known.path === undefined ? 'Add' : 'Change'
    return {
      subject: `${act} ${page?.fields.title ?? path ?? known.path}`,
      ...(known.path !== undefined && known.path !== path ? { removed: known.path } : {}),
      ...(page && is && { written: { path: is.path, text: await textFor(request, page) } }),
    }
  }
}

/** Returns the changes of files by the commits after a position. Files with their present content are written, all others removed. */
async function fileChanges(
  { sql, view, files }: ShownHistoryRequest,
  after: number,
  commits: readonly PlacedCommit[],
): Promise<ReadonlyMap<number, Change[]>> {
  const changes = new Map<number, Change[]>()
  if (Object.keys(files).length === 0) return changes
  const positions = new Map(commits.map(({ commit, position }) => [commit, position]))
  const parents = [commitAt(sql, after), ...commits.map(({ commit }) => commit)]
  const input = commits.map(({ commit }, at) => `${[commit, parents[at]].join(' ').trim()}\n`).join('')
  const command = ['diff-tree', '--stdin', '-r', '-z', '--root', '--no-renames']
  const output = await runGit(view.kb.repository.gitDir, command, { input, timeLimit: longTimeLimit })
  let position = after
  const words = output.split('\0').values()
  for (const word of words) {
    position = positions.get(word) ?? position
    if (!word.startsWith(':')) continue
    const path = words.next().value ?? ''
    const blob = Object.hasOwn(files, path) ? files[path] : undefined
    if (blob === undefined) continue
    const [oldMode, mode, oldBlob, newBlob] = word.slice(1).split(' ')
    const [was, is] = [isFile(oldMode) && oldBlob === blob, isFile(mode) && newBlob === blob]
    if (was === is) continue
    changes
      .getOrInsertComputed(position, () => [])
      .push({
        subject: `${is ? 'Add' : 'Remove'} ${path}`,
        ...(is ? { written: { path, blob } } : { removed: path }),
      })
  }
  return changes
}

function isFile(mode = ''): boolean {
  return mode.startsWith('100')
}

function toCommit({ commit, at }: PlacedCommit, made: readonly Change[], parent: string | undefined): string {
  const [only, ...others] = made.map(({ subject }) => subject)
  const subject = only !== undefined && others.length === 0 ? only : `Change ${made.length} pages and files`
  const message = commitMessage(subject, { [mainCommit]: commit })
  const { name, email } = committer(new Date(at))
  const lines = [
    'commit refs/heads/main',
    `committer ${name} <${email}> ${Date.parse(at) / 1000} +0000`,
    `data ${Buffer.byteLength(message)}\n${message}`,
    ...(parent === undefined ? [] : [`from ${parent}`]),
    ...made.flatMap(({ removed }) => (removed === undefined ? [] : [`D ${quoted(removed)}`])),
    ...made.flatMap(({ written }) => (written ? [toFile(written)] : [])),
  ]
  return `${lines.join('\n')}\n\n`
}

function toFile({ path, ...written }: NonNullable<Change['written']>): string {
  if ('blob' in written) return `M 100644 ${written.blob} ${quoted(path)}`
  return `M 100644 inline ${quoted(path)}\ndata ${Buffer.byteLength(written.text)}\n${written.text}`
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
}

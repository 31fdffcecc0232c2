import { longTimeLimit, runGit } from '../../git/native/git-process.ts'
import { type NeuronFile, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { pauses } from '../../system/pauses.ts'
import type { KbView } from '../access/kb-view.ts'
import { accessIn } from '../access/neuron-access.ts'
import { commitAt, lastBlobUpTo, mainCommitsBetween, versionsBetween } from '../projection/main-changes.ts'
import type { MainTables } from '../projection/projection.ts'
import { commitMessage, committer } from '../refs/commit-message.ts'

/** Blobs by path. */
type Files = Readonly<Record<string, string>>

export type ShownHistoryRequest = {
  sql: MainTables
  view: KbView
  /** The files that are no Neurons and that the audience sees. */
  files: Files
  /** Position on main. */
  upTo: number
}

/** New files for which the past is searched. */
const maxAdded = 100

/** What a clone holds: main up to a position, and these files. */
export type ShownBefore = { position: number; files: Files; head: string | undefined }

/** What one commit does to one Neuron or file that is shown. */
type Change = { subject: string; removed?: string; written?: { path: string; blob: string } }
type ChangesByPosition = Map<number, Change[]>

/** Returns the commits of an audience's clone as a stream for git-fast-import(1), oldest first; empty: there are none. */
export async function shownHistory(request: ShownHistoryRequest): Promise<string> {
  const changes: ChangesByPosition = new Map()
  await addNeurons(request, 0, changes)
  await addFiles(request, 0, changes)
  return toStream(request.sql, changes)
}

/**
 * Returns the commits that come after what a clone holds; undefined if it must be made anew: what it holds is hidden now or is another
 * file, or main's past holds what is shown only now.
 */
export async function laterHistory(
  request: ShownHistoryRequest,
  { position, files, head }: ShownBefore,
): Promise<string | undefined> {
  const added = Object.keys(request.files).filter((path) => !Object.hasOwn(files, path))
  const isOther = ([path, blob]: [string, string]) => request.files[path] !== blob
  if (Object.entries(files).some(isOther) || (await isAnyTurned(request, position))) return undefined
  if (await hadAny(request, position, added)) return undefined
  const changes: ChangesByPosition = new Map()
  await addNeurons(request, position, changes)
  await addFiles(request, position, changes)
  return toStream(request.sql, changes, head)
}

/** Whether main, up to a position, ever had a file at one of these paths. */
async function hadAny({ sql, view }: ShownHistoryRequest, position: number, paths: string[]): Promise<boolean> {
  const commit = commitAt(sql, position)
  if (paths.length === 0 || commit === undefined) return false
  if (paths.length > maxAdded) return true
  const command = ['--literal-pathspecs', 'log', '-1', '--first-parent', '--format=%H', commit, '--', ...paths]
  return (await runGit(view.kb.repository.gitDir, command, { timeLimit: longTimeLimit })) !== ''
}

/** Whether a Neuron that main had at a position was hidden then and is shown now, or the other way round. */
async function isAnyTurned({ sql, view, upTo }: ShownHistoryRequest, position: number): Promise<boolean> {
  const pause = pauses()
  for (const seqId of new Set(versionsBetween(sql, position, upTo).map((version) => version.seqId))) {
    await pause()
    const blob = lastBlobUpTo(sql, seqId, position)
    if (blob === undefined) continue
    const wasShown = (await shownPage(view, blob)) !== undefined
    if (wasShown !== (await view.seesHistory(seqId))) return true
  }
  return false
}

async function shownPage(view: KbView, blob: string): Promise<NeuronFile | undefined> {
  const page = parseNeuronFile(await view.kb.repository.readTextOnce(blob))
  return view.sees(accessIn(page, await view.kb.settings())) ? page : undefined
}

/** Adds what the commits after a position do to Neurons that the audience sees today, where it saw them then. */
async function addNeurons(
  { sql, view, upTo }: ShownHistoryRequest,
  after: number,
  changes: ChangesByPosition,
): Promise<void> {
  const pause = pauses()
  const pages = new Map<string, { isShown: boolean; path: string | undefined }>()
  for (const { position, seqId, is, was } of versionsBetween(sql, after, upTo)) {
    await pause()
    const known = pages.get(seqId) ?? {
      isShown: await view.seesHistory(seqId),
      path: was && (await shownPage(view, was.blob)) && was.path,
    }
    const page = known.isShown && is ? await shownPage(view, is.blob) : undefined
    const path = page && is?.path
    pages.set(seqId, { ...known, path })
    if (!known.isShown || (known.path === undefined && path === undefined)) continue
    const act = path === undefined ? 'Remove' : known.path === undefined ? 'Add' : 'Change'
    add(changes, position, {
      subject: `${act} ${page?.fields.title ?? path ?? known.path}`,
      ...(known.path !== undefined && known.path !== path ? { removed: known.path } : {}),
      ...(page && is && { written: is }),
    })
  }
}

function add(changes: ChangesByPosition, position: number, change: Change): void {
  changes.set(position, [...(changes.get(position) ?? []), change])
}

/** Adds what the commits after a position do to files, where they make them what they are today or something else. */
async function addFiles(
  { sql, view, files, upTo }: ShownHistoryRequest,
  after: number,
  changes: ChangesByPosition,
): Promise<void> {
  if (Object.keys(files).length === 0) return
  const commits = mainCommitsBetween(sql, after, upTo)
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
    add(changes, position, {
      subject: `${is ? 'Add' : 'Remove'} ${path}`,
      ...(is ? { written: { path, blob } } : { removed: path }),
    })
  }
}

function isFile(mode = ''): boolean {
  return mode.startsWith('100')
}

/** The format is described in git-fast-import(1). */
function toStream(sql: MainTables, changes: ChangesByPosition, head?: string): string {
  const positions = [...changes.keys()].sort((a, b) => a - b)
  const first = positions[0] ?? 0
  const commits = new Map(
    mainCommitsBetween(sql, first - 1, positions.at(-1) ?? 0).map((commit) => [commit.position, commit]),
  )
  const blocks = positions.map((position) => {
    const { commit = '', at = '' } = commits.get(position) ?? {}
    const made = changes.get(position) ?? []
    const [only, ...others] = made.map(({ subject }) => subject)
    const subject = only !== undefined && others.length === 0 ? only : `Change ${made.length} pages and files`
    const message = commitMessage(subject, { 'Main-Commit': commit })
    const { name, email } = committer(new Date(at))
    return [
      'commit refs/heads/main',
      `committer ${name} <${email}> ${Date.parse(at) / 1000} +0000`,
      `data ${Buffer.byteLength(message)}\n${message}`,
      ...(position === first && head !== undefined ? [`from ${head}`] : []),
      ...made.flatMap(({ removed }) => (removed === undefined ? [] : [`D ${quoted(removed)}`])),
      ...made.flatMap(({ written }) => (written ? [`M 100644 ${written.blob} ${quoted(written.path)}`] : [])),
    ].join('\n')
  })
  return blocks.length === 0 ? '' : `${blocks.join('\n\n')}\n\ndone\n`
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
}

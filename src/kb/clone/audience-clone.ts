import { mkdtemp, mkdtempDisposable, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { GitError } from '../../git/git-error.ts'
import { longTimeLimit, runGit } from '../../git/native/git-process.ts'
import { readRef } from '../../git/refs/refs.ts'
import { Repository } from '../../git/repository.ts'
import type { servedAudiences } from '../../rules/access/audience.ts'
import { lockFile } from '../../state/directory/directory-lock.ts'
import { coalesce } from '../../system/concurrency/coalesce.ts'
import { makeDurableDirectory, writeSynced } from '../../system/durable-file.ts'
import { FileView } from '../access/file-view.ts'
import { viewAs } from '../access/kb-view.ts'
import { NamedSources } from '../access/shown-fields.ts'
import { type Context, onePer } from '../context.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { filesBesideNeurons } from '../projection/file-queries.ts'
import { commitAt, lastPosition, positionOf } from '../projection/main-changes.ts'
import type { MainTables } from '../projection/projection.ts'
import { type ImportStream, laterHistory, shownHistory } from './shown-history.ts'

export type CloneAudience = (typeof servedAudiences)[number]

/** State that a clone was made from. */
const CloneState = z.object({
  main: z.string(),
  queue: z.string().optional(),
  /** Version of the Sources, any of which may have become hidden or been deleted. */
  sourcesMark: z.string(),
  /** Sources that pages name, by id: true if the clone names them, too. */
  sources: z.record(z.string(), z.boolean()),
  /** Settings that decide who sees a page. */
  settings: z.string(),
  /** The clone's own head. */
  head: z.string().optional(),
  /** Blobs of the visible files that are no Neurons, by path. */
  files: z.record(z.string(), z.string()),
  /** Sizes of the files in its object folder, in bytes, by path. */
  objects: z.record(z.string(), z.number()),
})
type CloneState = z.infer<typeof CloneState>

/** Version of the format in which pages are written to a clone. A clone of another version is rebuilt. */
const form = 'from the fields that the API shows'
const stateFile = 'ganglion.json'
const branch = 'refs/heads/main'
const options = { timeLimit: longTimeLimit }

type CloneContext = Pick<Context, 'directory' | 'sources'>

const clones = onePer((kb: KnowledgeBase, ctx: CloneContext) => {
  const root = join(ctx.directory.index(kb.identity.id), 'clones')
  return { tool: makerOf('tool'), public: makerOf('public'), student: makerOf('student') }

  function makerOf(audience: CloneAudience) {
    return coalesce(() => follow(kb, ctx, audience, join(root, `${audience}.git`)))
  }
})

/**
 * Returns the folder of a bare repository with the part of main that an audience may see, up to date with main. Its history is derived from
 * main's: it has a version of a Neuron if the audience saw that version and sees the Neuron today, and a file as it is today, from the
 * commit that introduced it. It depends on nothing else, so the same main gives the same commits on every machine. It contains no object of
 * anything hidden: when something visible becomes hidden, it is rebuilt in another folder. It is also rebuilt if a crash or another program
 * has changed it. Safe for concurrent processes.
 * @throws {GitError} `no-git`
 */
export function audienceClone(ctx: CloneContext, kb: KnowledgeBase, audience: CloneAudience): Promise<string> {
  return clones(kb, ctx)[audience]()
}

async function follow(
  kb: KnowledgeBase,
  { sources }: CloneContext,
  audience: CloneAudience,
  gitDir: string,
): Promise<string> {
  const { main, queue } = (await kb.whole()).heads()
  const { defaultAudience, inlineTags, publishedKeys } = await kb.settings()
  const settings = JSON.stringify({ defaultAudience, inlineTags, publishedKeys, form })
  const sourcesMark = await sources.readMark(kb.identity.id)
  if (main === undefined) throw new Error(`${kb.identity.id} has no main`)
  const isCurrent = (state: CloneState | undefined) =>
    state?.main === main && state.queue === queue && state.settings === settings && state.sourcesMark === sourcesMark
  if (isCurrent(await readState(gitDir))) return gitDir
  await makeDurableDirectory(dirname(gitDir))
  using lock = await lockFile(`${gitDir}.lock`, { waitMs: longTimeLimit })
  if (lock === undefined) throw new Error(`${gitDir} is locked by another process`)
  const known = await readState(gitDir)
  const following = { audience, gitDir, known, main, queue, settings, sourcesMark }
  if (!isCurrent(known)) await bringUpToDate(kb, sources, following)
  return gitDir
}

type Following = { audience: CloneAudience; gitDir: string; known: CloneState | undefined } & Pick<
  CloneState,
  'main' | 'queue' | 'settings' | 'sourcesMark'
>

/** Updates a clone to main, or rebuilds it. Must run while no other process does. */
async function bringUpToDate(
  kb: KnowledgeBase,
  sources: Context['sources'],
  { audience, gitDir, known, main, queue, settings, sourcesMark }: Following,
): Promise<void> {
  await removeLeftovers(gitDir)
  const source = kb.repository.gitDir
  await kb.projection.withSnapshot(async (sql) => {
    const view = await viewAs(kb, { audience, sql })
    const files = await shownFiles(sql, new FileView(view))
    const isSameSources = known?.sourcesMark === sourcesMark
    const named = new NamedSources(view, sources, isSameSources ? Object.entries(known.sources) : [])
    const request = { sql, view, named, files, upTo: lastPosition(sql) }
    const head = commitAt(sql, request.upTo) ?? main
    const state = { main: head, ...(queue && { queue }), settings, sourcesMark, named, files }
    const position = known?.settings === settings ? positionOf(sql, known.main) : undefined
    const later =
      known && position !== undefined
        ? await laterHistory(request, { ...known, position, head: known.head })
        : undefined
    if (later !== undefined && (await extendClone(source, gitDir, { history: later, state }))) return
    await replaceClone(source, gitDir, { history: shownHistory(request), state })
  })
}

/** Removes files of a process that was killed. */
async function removeLeftovers(gitDir: string): Promise<void> {
  const folder = dirname(gitDir)
  const left = (await readdir(folder)).filter((name) => name.startsWith(`${basename(gitDir)}-`))
  for (const name of left) await rm(join(folder, name), { recursive: true, force: true })
}

async function shownFiles(sql: MainTables, view: FileView): Promise<Record<string, string>> {
  const shown: Record<string, string> = {}
  for (const { path, blob } of filesBesideNeurons(sql)) if (await view.opens(path)) shown[path] = blob
  return shown
}

type Made = { history: ImportStream; state: Omit<CloneState, 'head' | 'objects' | 'sources'> & { named: NamedSources } }

async function replaceClone(source: string, gitDir: string, { history, state }: Made): Promise<void> {
  const fresh = await mkdtemp(`${gitDir}-`)
  try {
    await Repository.init(fresh).then((repository) => repository.close())
    await bring(source, fresh, history)
    await keepState(fresh, state)
    // A running fetch from the old folder fails and must be retried, since it may contain what is hidden now.
    await rm(gitDir, { recursive: true, force: true })
    await rename(fresh, gitDir)
  } catch (error) {
    await rm(fresh, { recursive: true, force: true })
    throw error
  }
}

/** Adds commits to a clone. @returns false if git cannot extend it because it is damaged */
async function extendClone(source: string, gitDir: string, { history, state }: Made): Promise<boolean> {
  try {
    if (await bring(source, gitDir, history)) await runGit(gitDir, ['repack', '-q', '-d', '--geometric=2'], options)
  } catch (error) {
    if (error instanceof GitError && error.code === 'git-failed') return false
    throw error
  }
  await keepState(gitDir, state)
  return true
}

/**
 * Creates commits in a temporary repository that borrows both repositories' objects, and fetches them, to copy only what is reachable.
 * @returns true if there were any commits
 */
async function bring(source: string, gitDir: string, history: ImportStream): Promise<boolean> {
  const first = await history.next()
  if (first.done) return false
  await using temporary = await mkdtempDisposable(`${gitDir}-import-`)
  const { path: beside } = temporary
  await Repository.init(beside).then((repository) => repository.close())
  const objects = [source, gitDir].map((from) => `${join(from, 'objects')}\n`)
  await writeFile(join(beside, 'objects/info/alternates'), objects.join(''))
  const input = startingWith(first.value, history)
  await runGit(beside, ['fast-import', '--quiet', '--done'], { ...options, input })
  const fetch = ['-c', 'protocol.file.allow=always', '-c', 'fetch.unpackLimit=1', 'fetch', '-q', '--no-tags']
  await runGit(gitDir, [...fetch, beside, `+${branch}:${branch}`], options)
  return true
}

async function* startingWith(first: string, rest: ImportStream): ImportStream {
  yield first
  yield* rest
}

async function keepState(gitDir: string, { named, ...state }: Made['state']): Promise<void> {
  const [path, head] = [join(gitDir, stateFile), await readRef(gitDir, branch)]
  const sources = Object.fromEntries(named.known)
  const kept: CloneState = { ...state, sources, ...(head && { head }), objects: await objectFiles(gitDir) }
  await rm(`${path}.new`, { force: true })
  await writeSynced(`${path}.new`, JSON.stringify(kept))
  await rename(`${path}.new`, path)
}

/** Returns the state of a clone. Undefined if there is none, or if it was changed by others and may contain anything. */
async function readState(gitDir: string): Promise<CloneState | undefined> {
  try {
    const state = CloneState.parse(JSON.parse(await readFile(join(gitDir, stateFile), 'utf8')))
    const isSame =
      (await readRef(gitDir, branch)) === state.head && isDeepStrictEqual(await objectFiles(gitDir), state.objects)
    return isSame ? state : undefined
  } catch {
    return undefined
  }
}

async function objectFiles(gitDir: string): Promise<Record<string, number>> {
  const folder = join(gitDir, 'objects')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [relative(folder, file), (await stat(file)).size] as const)),
  )
}

import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { longTimeLimit, runGit } from '../../git/native/git-process.ts'
import { Repository } from '../../git/repository.ts'
import type { servedAudiences } from '../../rules/access/audience.ts'
import { coalesce } from '../../system/concurrency/coalesce.ts'
import { makeDurableDirectory, writeSynced } from '../../system/durable-file.ts'
import { FileView } from '../access/file-view.ts'
import { viewAs } from '../access/kb-view.ts'
import { type Context, onePer } from '../context.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { filesBesideNeurons } from '../projection/file-queries.ts'
import { commitAt, positionOf } from '../projection/main-changes.ts'
import type { MainTables } from '../projection/projection.ts'
import { laterHistory, shownHistory } from './shown-history.ts'

export type CloneAudience = (typeof servedAudiences)[number]

/** What a clone was made from. */
const CloneState = z.object({
  main: z.string(),
  queue: z.string().optional(),
  /** The settings that decide who sees what. */
  settings: z.string(),
  /** The clone's own head. */
  head: z.string().optional(),
  /** The blobs of the files that are no Neurons and that the audience sees, by path. */
  files: z.record(z.string(), z.string()),
})
type CloneState = z.infer<typeof CloneState>

const stateFile = 'ganglion.json'
const branch = 'refs/heads/main'

const clones = onePer((kb: KnowledgeBase, ctx: Pick<Context, 'directory'>) => {
  const root = join(ctx.directory.index(kb.identity.id), 'clones')
  return { tool: makerOf('tool'), public: makerOf('public'), student: makerOf('student') }

  function makerOf(audience: CloneAudience) {
    return coalesce(() => follow(kb, audience, join(root, `${audience}.git`)))
  }
})

/**
 * Returns the folder of a bare repository that holds what an audience may see of main, up to date with it. Its history is made of
 * main's: a version of a Neuron is in it if the audience saw that version and sees the Neuron today; a file is in it as it is today,
 * since the commit that brought it. It depends on nothing else, so the same main gives the same commits on every machine. It holds no
 * object of anything hidden: when something that it shows is hidden, it is made anew in another folder.
 * @throws {GitError} `no-git`
 */
export function audienceClone(
  ctx: Pick<Context, 'directory'>,
  kb: KnowledgeBase,
  audience: CloneAudience,
): Promise<string> {
  return clones(kb, ctx)[audience]()
}

async function follow(kb: KnowledgeBase, audience: CloneAudience, gitDir: string): Promise<string> {
  const { main, queue } = (await kb.whole()).heads()
  const { defaultAudience, inlineTags } = await kb.settings()
  const settings = JSON.stringify({ defaultAudience, inlineTags })
  const known = await readState(gitDir)
  if (main === undefined) throw new Error(`${kb.identity.id} has no main`)
  if (known?.main === main && known.queue === queue && known.settings === settings) return gitDir
  return kb.projection.withSnapshot(async (sql) => {
    const view = await viewAs(kb, { audience, sql })
    const files = await shownFiles(sql, new FileView(view))
    const request = { sql, view, files, upTo: lastPosition(sql) }
    const position = known?.settings === settings ? positionOf(sql, known.main) : undefined
    const later =
      known && position !== undefined
        ? await laterHistory(request, { position, files: known.files, head: known.head })
        : undefined
    const made = {
      history: later ?? (await shownHistory(request)),
      state: { main: commitAt(sql, request.upTo) ?? main, ...(queue && { queue }), settings, files },
    }
    await (later === undefined ? replaceClone : extendClone)(kb.repository.gitDir, gitDir, made)
    return gitDir
  })
}

function lastPosition(sql: MainTables): number {
  return Number(sql.get`SELECT max(position) AS last FROM commits`?.last ?? 0)
}

async function shownFiles(sql: MainTables, view: FileView): Promise<Record<string, string>> {
  const shown: Record<string, string> = {}
  for (const { path, blob } of filesBesideNeurons(sql)) if (await view.opens(path)) shown[path] = blob
  return shown
}

type Made = { history: string; state: Omit<CloneState, 'head'> }

async function replaceClone(source: string, gitDir: string, { history, state }: Made): Promise<void> {
  await makeDurableDirectory(dirname(gitDir))
  const fresh = await mkdtemp(`${gitDir}-`)
  try {
    await Repository.init(fresh).then((repository) => repository.close())
    await bring(source, fresh, history)
    await keepState(fresh, state)
    // A fetch from the old one fails and is tried again: it may be of what is hidden now.
    await rm(gitDir, { recursive: true, force: true })
    await rename(fresh, gitDir)
  } catch (error) {
    await rm(fresh, { recursive: true, force: true })
    throw error
  }
}

async function extendClone(source: string, gitDir: string, { history, state }: Made): Promise<void> {
  if (history !== '') {
    await bring(source, gitDir, history)
    await runGit(gitDir, ['repack', '-q', '-d', '--geometric=2'], { timeLimit: longTimeLimit })
  }
  await keepState(gitDir, state)
}

/** Makes commits in a repository beside, which borrows the objects of both, and fetches them: a fetch brings what they reach, and no more. */
async function bring(source: string, gitDir: string, history: string): Promise<void> {
  if (history === '') return
  const beside = await mkdtemp(`${gitDir}-import-`)
  try {
    await Repository.init(beside).then((repository) => repository.close())
    const objects = [source, gitDir].map((from) => `${join(from, 'objects')}\n`)
    await writeFile(join(beside, 'objects/info/alternates'), objects.join(''))
    const options = { timeLimit: longTimeLimit }
    await runGit(beside, ['fast-import', '--quiet', '--done'], { ...options, input: history })
    const fetch = ['-c', 'protocol.file.allow=always', '-c', 'fetch.unpackLimit=1', 'fetch', '-q', '--no-tags']
    await runGit(gitDir, [...fetch, beside, `+${branch}:${branch}`], options)
  } finally {
    await rm(beside, { recursive: true, force: true })
  }
}

async function keepState(gitDir: string, state: Omit<CloneState, 'head'>): Promise<void> {
  const repository = new Repository(gitDir)
  const head = await repository.readRef(branch)
  repository.close()
  await writeSynced(join(gitDir, `${stateFile}.new`), JSON.stringify({ ...state, ...(head && { head }) }))
  await rename(join(gitDir, `${stateFile}.new`), join(gitDir, stateFile))
}

/** Nothing where there is no clone yet, or one that cannot be gone on with. */
async function readState(gitDir: string): Promise<CloneState | undefined> {
  const text = await readFile(join(gitDir, stateFile), 'utf8').catch(() => '{}')
  return CloneState.safeParse(JSON.parse(text)).data
}

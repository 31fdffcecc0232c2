import { randomUUID } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { openContext } from '../../app/open-context.ts'
import { operatorsGit, withoutCredentials } from '../../git/native/operators-git.ts'
import { encodeCommit, folderMode, type GitObject, hashObject, type Oid, Tree } from '../../git/objects/object.ts'
import { PushTooLarge } from '../../git/pushed-objects.ts'
import { listFiles, Repository } from '../../git/repository.ts'
import type { IncomingLimits } from '../../git/transport/quarantine.ts'
import { mainCommit } from '../../kb/clone/shown-history.ts'
import { putRepository } from '../../kb/cluster/pack-cache.ts'
import type { Context } from '../../kb/context.ts'
import { type CreatedKnowledgeBase, createKnowledgeBase, enterKnowledgeBase, operator } from '../../kb/create-kb.ts'
import { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { countRows } from '../../kb/projection/neuron-queries.ts'
import { commitMessage, committer, signatureOf } from '../../kb/refs/commit-message.ts'
import { mainRef, sharedRefs } from '../../kb/refs/kb-refs.ts'
import { commitToMain, nextNumber, raiseSeqFloor } from '../../kb/writing/commits.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import { checkPushedObjects } from '../../push/checks/check-objects.ts'
import { packLimits } from '../../push/git/git-transfers.ts'
import { OutsideAdoption } from '../../push/outside/adopt-outside.ts'
import { formatFindings } from '../../push/push-report.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { Slug } from '../../rules/neurons/seq-id.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { runUnlessRunning } from '../../state/database/engines/advisory-lock.ts'
import { lockFile } from '../../state/directory/directory-lock.ts'
import { syncDirectory } from '../../system/durable-file.ts'
import { floorAbove } from '../backup/restored-folder.ts'
import { firstOf } from '../verify/verification.ts'
import { verify } from '../verify/verify.ts'
import { AdoptionRefused, adoptedRef, fetchSource } from './fetch-source.ts'

const gibibyte = 1024 ** 3
/** Limits of a fetched history. A single object may be as large as in a push. */
const defaultLimits: IncomingLimits = {
  ...packLimits,
  maxPack: 4 * gibibyte,
  maxObjects: 5_000_000,
  maxUnpackedBytes: 64 * gibibyte,
}

export type AdoptOptions = {
  /** Folder or URL of the repository, in a form that git accepts. */
  source: string
  tenant: string
  /** Slug of the knowledge base. Default: the mirror's own, or one derived from the source. */
  slug?: string | undefined
  limits?: Partial<IncomingLimits>
}

export type AdoptedKnowledgeBase = CreatedKnowledgeBase & { isMirror: boolean; neurons: number }

/**
 * Creates a knowledge base from a repository and its history: a mirror keeps its id, prefix, queue and citations; the pages of any other
 * repository become Neurons. It is built and verified in a separate data directory, which the next start of a server removes after a crash,
 * and is moved to its place at the end.
 * @throws {AdoptionRefused} {Error} with git's message; errors of {@link enterKnowledgeBase}
 */
export async function adoptKnowledgeBase(ctx: Context, options: AdoptOptions): Promise<AdoptedKnowledgeBase> {
  const { directory, database } = ctx
  using lock = await lockFile(join(directory.tmp, 'adoption'), { waitMs: 0 })
  // Locked, since two adoptions of one mirror would both find its id unused.
  const adopted = lock && (await runUnlessRunning(database.db, 'adopt', () => adopt(ctx, options)))
  if (adopted !== undefined) return adopted
  throw new AdoptionRefused('Another adoption is under way: try again when it has ended.')
}

async function adopt(ctx: Context, options: AdoptOptions): Promise<AdoptedKnowledgeBase> {
  const { source: address, tenant, slug, limits } = options
  const { cluster, directory, threads, urls, now } = ctx
  const dataDir = join(directory.incoming, `adopted-${randomUUID()}`)
  const scratch = await openContext({ dataDir, threads, publicUrl: urls.base, now })
  try {
    const fetched = join(scratch.directory.incoming, 'fetched.git')
    const isMirror = await fetchSource(address, fetched, { ...defaultLimits, ...limits })
    const named = { tenant, slug: slug ?? (isMirror ? undefined : slugOf(address)) }
    const building = { ...named, fetched, isMirror, source: withoutCredentials(address) }
    const { neurons, ...identity } = await buildKb(scratch, building)
    await requireFreeId(ctx, identity.id)
    const builtDir = scratch.directory.repository(identity.id)
    const made = await enterKnowledgeBase(ctx, { ...identity, tenant }, async ({ id }, gitDir) => {
      // No entry has the id: an interrupted adoption left these files.
      for (const path of [gitDir, ...directory.derived(id)]) await rm(path, { recursive: true, force: true })
      if (cluster === undefined) await rename(builtDir, gitDir)
      else await cluster.replace(await putRepository(cluster.packs, { kbId: id, gitDir: builtDir, refs: sharedRefs }))
      await syncDirectory(directory.repositories)
    })
    return { ...made, isMirror, neurons }
  } finally {
    await scratch.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function requireFreeId({ knowledgeBases }: Context, id: string): Promise<void> {
  const same = (await knowledgeBases.all()).find((kb) => kb.id === id)
  if (same !== undefined)
    throw new AdoptionRefused(
      `The knowledge base ${same.slug} here has the id ${id} already, which citations and candidates name: adopt the copy into another data directory, or delete that one first (ganglion kb delete).`,
    )
  if ((await knowledgeBases.deleted()).includes(id))
    throw new AdoptionRefused(
      `A deleted knowledge base had the id ${id}: try again when a server has removed the rest.`,
    )
}

/** Returns a slug derived from the last part of a repository's address. */
function slugOf(address: string): string {
  const path = address.replace(/\/+$/, '').replace(/(?:\/?\.git|\.bundle)$/, '')
  const name =
    path
      .split(/[/:\\]/)
      .at(-1)
      ?.toLowerCase() ?? ''
  const { success, data } = Slug.safeParse(name.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, ''))
  if (!success) throw new AdoptionRefused(`No slug can be made of the name ${name}: give one with --slug.`)
  return data
}

const maxProblems = 50

type Building = {
  /** Fetched bare repository, which is moved to its final place. */
  fetched: string
  /** Address of the source, without credentials. */
  source: string
  isMirror: boolean
  tenant: string
  /** Requested slug; undefined: the mirror's own. */
  slug: string | undefined
}

type Named = { id: string; slug: string; prefix: string }

/**
 * Builds a sound knowledge base from a fetched repository, in a context that nothing else uses.
 * @throws {AdoptionRefused} with the problem
 */
async function buildKb(scratch: Context, building: Building): Promise<Named & { neurons: number }> {
  const { source, isMirror } = building
  const { directory, parser, now } = scratch
  const named = await (isMirror ? placeMirror : placeHistory)(scratch, building)
  const identity = { ...named, tenantId: '' }
  const [gitDir, indexDir] = [directory.repository(identity.id), directory.index(identity.id)]
  const kb = new KnowledgeBase(identity, { gitDir, indexDir, parser })
  let neurons: number
  try {
    await kb.sync()
    if (isMirror) await continueMirror(kb, now())
    else {
      const tip = (await kb.repository.readRef(adoptedRef)) ?? ''
      refuse(source, formatFindings(await mergeHistory(kb, { tip, source }, scratch)))
      await operatorsGit(gitDir, ['update-ref', '-d', adoptedRef])
    }
    neurons = countRows(kb.projection.read).neurons
  } finally {
    await kb.close()
  }
  const { kbs } = await verify(scratch, [identity])
  const problems = kbs.flatMap(({ problems }) => problems.map(({ kind, message }) => `${kind}: ${message}`))
  refuse(source, firstOf(problems, maxProblems))
  return { ...named, neurons }
}

function refuse(source: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  throw new AdoptionRefused(
    `${source} cannot be adopted as it is. Correct it there, and adopt it again:\n${problems.join('\n')}`,
  )
}

/** Moves a mirror to the place of its id. */
async function placeMirror({ directory }: Context, building: Building): Promise<Named> {
  const { fetched, source } = building
  const repository = new Repository(fetched)
  const text = await readSettings(repository).finally(() => repository.close())
  const { id, prefix, slug: own } = parseKbFile(text).settings
  const slug = building.slug ?? own
  if (id === null || slug === null || prefix === null)
    throw new AdoptionRefused(`${source} has a queue, but its kb.yaml gives no id, slug and prefix: put them back.`)
  await rename(fetched, directory.repository(id))
  return { id, slug, prefix }
}

/** Skips the seqIds that the original may have assigned since, and gives the mirror its name here. */
async function continueMirror(kb: KnowledgeBase, at: Date): Promise<void> {
  const { id, slug } = kb.identity
  const document = parseDocument(await readSettings(kb.repository))
  const isRenamed = document.get('slug') !== slug
  document.set('slug', slug)
  const files = new Map([['kb.yaml', document.toString({ lineWidth: 0 })]])
  await kb.write(async (staging) => {
    await raiseSeqFloor(kb, staging, { floor: floorAbove(nextNumber(kb) - 1), actor: operator, at })
    const [subject, trailers] = [`Name the knowledge base ${slug}`, [['Knowledge-Base', id] as const]]
    if (isRenamed) await commitToMain(kb, staging, { files, subject, trailers, decided: { operator }, at })
  })
}

/** Creates a knowledge base in a fetched repository. */
async function placeHistory(scratch: Context, building: Building): Promise<Named> {
  const { fetched, tenant, slug = '' } = building
  const { id, prefix, gitDir } = await createKnowledgeBase(scratch, { tenant, slug })
  await operatorsGit(fetched, ['fetch', '--quiet', '--no-write-fetch-head', '--', gitDir, `${mainRef}:${mainRef}`])
  await rm(gitDir, { recursive: true })
  await rename(fetched, gitDir)
  return { id, slug, prefix }
}

/** Returns the `kb.yaml` on main. */
async function readSettings(repository: Repository): Promise<string> {
  const main = await repository.readRef(mainRef)
  const blob = main && (await repository.blobAt(main, 'kb.yaml'))
  return blob === undefined ? '' : repository.readTextOnce(blob)
}

/**
 * Merges a history into a new knowledge base. Only its last commit is checked; earlier ones stay in git and are visible only to curators,
 * in clones. If there is no page in `neurons/`, all files except hidden ones move there. Each page becomes a Neuron.
 * @returns errors; if there are any, the knowledge base must not be served
 * @throws {AdoptionRefused}
 */
async function mergeHistory(
  kb: KnowledgeBase,
  { tip, source }: { tip: Oid; source: string },
  { now }: Pick<Context, 'now'>,
): Promise<Finding[]> {
  const { repository } = kb
  const { findings } = await checkPushedObjects(repository, { from: undefined, to: tip }).catch((error: unknown) => {
    throw error instanceof PushTooLarge ? new AdoptionRefused(`${source} is too large: ${error.message}`) : error
  })
  if (findings.length > 0) return findings
  const lacks = await lackingPart(repository, tip)
  if (lacks !== undefined)
    throw new AdoptionRefused(
      `${source} ${lacks}: adopt a full copy, as git clone --mirror makes it with a curator's key. Or remove kb.yaml and the seqIds of its pages in a commit, and adopt it as pages of others.`,
    )
  const at = now()
  const isPage = ({ path }: { path: string }) => isNeuronPath(withPageExtension(path))
  const isInPlace = (await listFiles(repository, tip)).some(isPage)
  const mergeParent = isInPlace ? tip : await moveToNeurons(repository, tip, at)
  const listed = await listFiles(repository, mergeParent)
  if (!listed.some(isPage)) throw new AdoptionRefused(`${source} has no file of Markdown.`)
  const files = new Map(listed.map(({ path, oid }) => [withPageExtension(path), { oid }]))
  const [subject, trailers] = [`Adopt the history of ${source}`, [['Knowledge-Base', kb.identity.id] as const]]
  const commit = { files, subject, trailers, decided: { operator }, at, mergeParent }
  await kb.write((staging) => commitToMain(kb, staging, commit))
  return new OutsideAdoption(kb, undefined, { now }).adopt()
}

/** Returns why the repository is a copy of a part of a knowledge base; undefined if it is of another kind. */
async function lackingPart(repository: Repository, tip: Oid): Promise<string | undefined> {
  if ((await repository.blobAt(tip, 'kb.yaml')) !== undefined)
    return 'has a kb.yaml, but not the queue of a knowledge base'
  const { data } = await repository.read(tip)
  if (
    !String(data)
      .split('\n')
      .some((line) => line.startsWith(`${mainCommit}: `))
  )
    return undefined
  return 'holds only what one audience sees of a knowledge base, as ganglion mirror pushes it and keys of readers and apps clone it'
}

/** Returns a separate commit that moves all but hidden files into `neurons/`: git follows names through it, but not through merges. */
async function moveToNeurons(repository: Repository, tip: Oid, at: Date): Promise<Oid> {
  const root = await repository.readTree(await repository.treeOf(tip))
  const hidden = root.entries.filter(({ name }) => name.startsWith('.'))
  const pages = hidden.reduce((tree, { name }) => tree.with(name, undefined).tree, root)
  const neurons = { mode: folderMode, oid: hashObject('tree', pages.data) } as const
  const moved = hidden.reduce(
    (tree, { name, ...entry }) => tree.with(name, entry).tree,
    Tree.empty.with('neurons', neurons).tree,
  )
  const message = commitMessage('Move all pages to neurons', [])
  const signatures = { author: signatureOf(operator, at), committer: committer(at) }
  const commit = encodeCommit({ tree: hashObject('tree', moved.data), parents: [tip], ...signatures, message })
  const trees = [pages, moved].map(({ data }): GitObject => ({ type: 'tree', data }))
  const objects = [...trees, { type: 'commit', data: commit } as const]
  const release = await repository.writeObjects(new Map(objects.map((one) => [hashObject(one.type, one.data), one])))
  await release()
  return hashObject('commit', commit)
}

function withPageExtension(path: string): string {
  return path.replace(/\.(?:md|markdown)$/i, '.md')
}

import { encodeCommit, type GitObject, hashObject, type Oid } from '../../git/objects/object.ts'
import { folderMode, Tree } from '../../git/objects/tree.ts'
import { PushTooLarge } from '../../git/pushed-objects.ts'
import { listFiles, type Repository } from '../../git/repository.ts'
import { mainCommit } from '../../kb/clone/shown-history.ts'
import type { Context } from '../../kb/context.ts'
import { operator } from '../../kb/create-kb.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { commitMessage, committer, signatureOf } from '../../kb/refs/commit-message.ts'
import { commitToMain } from '../../kb/writing/commits.ts'
import { checkPushedObjects } from '../../push/checks/check-objects.ts'
import { OutsideAdoption } from '../../push/outside/adopt-outside.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { AdoptionRefused } from './fetch-source.ts'

/**
 * Merges a history into a new knowledge base. Only its last commit is checked; earlier ones stay in git and are visible only to curators,
 * in clones. If there is no page in `neurons/`, all files except hidden ones move there. Each page becomes a Neuron.
 * @returns errors; if there are any, the knowledge base must not be served
 * @throws {AdoptionRefused}
 */
export async function mergeHistory(
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

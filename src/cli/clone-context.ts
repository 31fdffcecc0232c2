import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type OpenContext, openContext } from '../app/open-context.ts'
import { findCommit, findGitDir } from '../git/checkout/work-tree.ts'
import { commonDir } from '../git/objects/object-store.ts'
import { Repository } from '../git/repository.ts'
import { operator } from '../kb/create-kb.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { filesBesideNeurons } from '../kb/projection/file-queries.ts'
import { mainRef } from '../kb/refs/kb-refs.ts'
import { commitToMain, nextNumbers } from '../kb/writing/commits.ts'
import { parseKbFile } from '../markdown/file/kb-file.ts'
import { editNeuron } from '../markdown/file/neuron-file.ts'
import { findKbFolder } from '../push/clone-check/read-checkout.ts'
import { formatSeqId } from '../rules/neurons/seq-id.ts'
import { isNeuronPath } from '../rules/paths/neuron-path.ts'
import { inUse } from '../system/concurrency/present-work.ts'

/** A clone, opened as a server would open a knowledge base whose `main` is a commit of the clone. */
export type CloneAt = {
  ctx: OpenContext
  commitOf: (revision: string) => Promise<string>
  open: (commit: string) => Promise<KnowledgeBase>
}

/**
 * Opens a clone as a server would. Its own tables and indexes are in the folder of the repository and are reused by later calls. The clone
 * is not changed.
 * @throws {Error} with a sentence for people if the folder is not a clone
 */
export async function withClone<Result>(dir: string, use: (clone: CloneAt) => Promise<Result>): Promise<Result> {
  const folder = await findKbFolder(dir)
  const gitDir = await findGitDir(folder)
  if (gitDir === undefined) throw new Error(`${folder} is no clone of a knowledge base: it has no git repository.`)
  const commitOf = async (revision: string) => {
    const commit = await findCommit(gitDir, revision)
    if (commit !== undefined) return commit
    const fetching = revision.startsWith('refs/') ? `: git fetch origin ${revision}:${revision}` : ''
    throw new Error(`There is no commit ${revision} in ${folder}${fetching}`)
  }
  const common = commonDir(gitDir)
  await using ctx = await openContext({ dataDir: join(common, 'ganglion-tests') })
  return await inUse(() => use({ ctx, commitOf, open: (commit) => openAt(ctx, common, commit) }))
}

async function openAt(ctx: OpenContext, cloneDir: string, commit: string): Promise<KnowledgeBase> {
  const settings = await settingsAt(cloneDir, commit)
  const { id: tenantId } = await ctx.tenants.ensure('clone', ctx.now())
  const gitDir = ctx.directory.repository(settings.id)
  using repository = new Repository(gitDir)
  const from = await repository.readRef(mainRef)
  if (from !== commit) {
    if (from === undefined) await borrowObjects(gitDir, cloneDir)
    if (!(await repository.updateRef(mainRef, from, commit))) throw new Error(`Another command uses ${gitDir}.`)
  }
  const known = await ctx.knowledgeBases.find(tenantId, settings.id)
  if (known === undefined) await ctx.knowledgeBases.create({ ...settings, tenantId }, ctx.now())
  const kb = await ctx.kb(tenantId, settings.id)
  await numberPages(ctx, kb)
  return kb
}

async function settingsAt(cloneDir: string, commit: string): Promise<{ id: string; slug: string; prefix: string }> {
  using repository = new Repository(cloneDir)
  const blob = await repository.blobAt(commit, 'kb.yaml')
  const { id, slug, prefix } = parseKbFile(blob === undefined ? '' : await repository.readText(blob)).settings
  if (id !== null && slug !== null && prefix !== null) return { id, slug, prefix }
  throw new Error(`The commit ${commit} is of no knowledge base: kb.yaml gives no id, slug and prefix.`)
}

async function borrowObjects(gitDir: string, cloneDir: string): Promise<void> {
  const repository = await Repository.init(gitDir)
  repository.close()
  await writeFile(join(gitDir, 'objects/info/alternates'), `${join(cloneDir, 'objects')}\n`)
}

/** Numbers pages that were never pushed and have no seqId. The server may give these seqIds to other pages. */
async function numberPages(ctx: OpenContext, kb: KnowledgeBase): Promise<void> {
  const pages = [...filesBesideNeurons(kb.projection.read)].filter(({ path }) => isNeuronPath(path))
  if (pages.length === 0) return
  await kb.write(async (staging) => {
    const next = nextNumbers(kb)
    const numbered = pages.map(async ({ path, blob }) => {
      const seqId = formatSeqId(kb.identity.prefix, next())
      return [path, editNeuron(await staging.readText(blob), { seqId })] as const
    })
    const files = new Map(await Promise.all(numbered))
    await commitToMain(kb, staging, { files, subject: 'Number the pages', decided: { operator }, at: ctx.now() })
  })
}

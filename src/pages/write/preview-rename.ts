import type { Context } from '../../kb/context.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import { aliasesToKeep, linksToNamesOf, NameChange } from '../../kb/writing/rename/name-change.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { neuronTitle } from '../../markdown/neuron-title.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { requireCurator } from './open-page.ts'
import { type PageWrite, writtenPage } from './written-page.ts'

export type PageRename = PageWrite & { target: { seqId: string; base: string } }

export type RenamePreview = {
  title: string
  path: string
  /** Names that the page keeps as aliases, if links are not rewritten. */
  aliases: string[]
  /** Pages whose links are rewritten, at most 1,000. */
  pages: { seqId: string; title: string }[]
  /** True if there are more than `pages`. */
  isMore: boolean
}

const most = 1000

/**
 * Returns the effects of a rename.
 * @throws {ValidationError} with the fields `title`, `path` or `base`
 * @throws {GanglionError} as `writePage`
 */
export async function previewRename(
  ctx: Context,
  caller: Caller,
  write: PageRename,
  { kb: kbName }: { kb: string },
): Promise<RenamePreview> {
  requireCurator(caller)
  const kb = await ctx.kb(caller.tenantId, kbName)
  const { read: sql } = kb.projection
  const view = { sql, readText: (oid: string) => kb.repository.readText(oid) }
  const { rewriteLinks } = await kb.settings()
  const { neuron } = await writtenPage(view, write, ctx.now())
  const page = parseNeuronFile(neuron.text)
  const { path } = neuron
  const { seqId } = write.target
  const after = { path, title: neuronTitle(page, path), aliases: page.fields.aliases }
  const shown = { title: after.title, path }
  if (!rewriteLinks) return { ...shown, aliases: aliasesToKeep(kb, seqId, after, { sql }), pages: [], isMore: false }

  const change = new NameChange(sql, [{ seqId, after }])
  const linking = new Set<string>()
  for (const link of linksToNamesOf(kb, seqId, sql)) {
    if (change.newTarget(link) !== undefined) linking.add(link.seqId)
    if (linking.size > most) break
  }
  const pages = [...linking]
    .slice(0, most)
    .map((from) => ({ seqId: from, title: findNeuron(sql, from)?.title ?? from }))
  return { ...shown, aliases: [], pages, isMore: linking.size > most }
}

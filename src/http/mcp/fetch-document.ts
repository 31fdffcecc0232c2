import { neuronPage, sourcePage } from '../../contract/console-paths.ts'
import { GanglionError } from '../../contract/errors.ts'
import { SeqId } from '../../contract/vocabulary.ts'
import type { Context } from '../../kb/context.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import { readNeuron } from '../../pages/read-neuron.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { readSource } from '../../sources/read-source.ts'
import { readSourceText } from '../../sources/read-source-text.ts'

export type FetchedDocument = {
  id: string
  title: string
  text: string
  url: string
  metadata: Record<string, string>
}

const idShape = /^(?:ganglion:\/\/)?(?:([^/]+)\/)?([^/]+)$/

/**
 * Returns a Neuron or the first part of a Source, by the id from a search, the URI of a resource, or a bare seqId.
 * @throws {GanglionError} `not_found`
 */
export async function fetchDocument(ctx: Context, caller: Caller, id: string): Promise<FetchedDocument> {
  const [, named, name = ''] = idShape.exec(id) ?? []
  const kb = named ?? (await kbOfPrefix(ctx, caller, name.slice(0, name.lastIndexOf('_'))))
  if (!SeqId.safeParse(name).success) return fetchSource(ctx, caller, kb, name)
  const { seqId, title, content, version, updatedAt, path, tags } = await readNeuron(ctx, caller, { kb, seqId: name })
  const metadata = { kb, seqId, version: String(version), updatedAt, path, tags: tags.join(', ') }
  return { id: `${kb}/${seqId}`, title, text: content, url: ctx.urls.page(neuronPage(kb, seqId)), metadata }
}

async function fetchSource(ctx: Context, caller: Caller, kb: string, docId: string): Promise<FetchedDocument> {
  const { knowledgeBaseId, filename, fileType, createdAt } = await readSource(ctx, caller, docId)
  if ((await ctx.readableKb(caller.tenantId, kb)).identity.id !== knowledgeBaseId) throw new GanglionError('not_found')
  const text = await readSourceText(ctx, caller, docId, {})
  const metadata = { kb, fileType, createdAt, part: String(text?.part ?? 0), parts: String(text?.parts ?? 0) }
  return {
    ...{ id: `${kb}/${docId}`, title: filename, url: ctx.urls.page(sourcePage(kb, docId)), metadata },
    text: (text?.passages ?? []).map((passage) => passage.text).join('\n\n'),
  }
}

async function kbOfPrefix(ctx: Context, caller: Caller, prefix: string): Promise<string> {
  const { knowledgeBases } = await listKnowledgeBases(ctx, caller)
  const found = knowledgeBases.find((kb) => kb.prefix === prefix)
  if (found === undefined) throw new GanglionError('not_found')
  return found.slug
}

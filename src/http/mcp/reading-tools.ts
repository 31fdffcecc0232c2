import type { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { neuronPage, sourcePage } from '../../contract/console-paths.ts'
import { GanglionError } from '../../contract/errors.ts'
import { Graph } from '../../contract/graph.ts'
import { KnowledgeBaseList } from '../../contract/knowledge-bases.ts'
import { Neuron, NeuronQuery } from '../../contract/neurons.ts'
import { maxOffset, RetrieveAnswer, RetrieveInput, SearchQuery } from '../../contract/search.ts'
import { SeqId } from '../../contract/vocabulary.ts'
import type { Context } from '../../kb/context.ts'
import { readGraph } from '../../pages/graph/read-graph.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import { readNeuron } from '../../pages/read-neuron.ts'
import { previewing } from '../../queue/preview/previewed-kb.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { highlightText } from '../../rules/text/highlight-text.ts'
import { retrieve } from '../../search/kb/retrieve.ts'
import { searchTenant } from '../../search/kb/search-pages.ts'
import { readSource } from '../../sources/read-source.ts'
import { readSourceText } from '../../sources/read-source-text.ts'
import { addTool, type Exchange, isData, Kb, reads } from './tool.ts'

type FetchedDocument = {
  id: string
  title: string
  text: string
  url: string
  metadata: Record<string, string>
}

const idShape = /^(?:ganglion:\/\/)?(?:([^/]+)\/)?([^/]+)$/

const id = z.string().describe('Id for fetch, such as `handbook/handbook_00000042`.')
const title = z.string().describe('Title.')
const url = z.string().describe('Address of the page, for a person.')

/** Result schemas that ChatGPT's connectors require. */
const Found = z.object({
  results: z
    .array(z.object({ id, title, url, text: z.string().describe('Excerpt, with the matched terms in `**`.') }))
    .describe('Best match first.'),
  total: z.int().nonnegative().describe('Number of all matches, also beyond `limit`.'),
})
const Fetched = z.object({
  ...{ id, title, url },
  text: z.string().describe('The whole text, as Markdown.'),
  metadata: z.looseObject({}).describe('seqId, version and others, each as text.'),
})

/** Adds the read-only tools. */
export function addReading(server: McpServer, exchange: Exchange): void {
  const { ctx, caller } = exchange
  const more = { rate: 'read', annotations: reads } as const

  addTool(server, exchange, 'list_knowledge_bases', {
    title: 'List the knowledge bases',
    description: 'Lists the knowledge bases with their slugs, which the other tools take as `kb`.',
    input: z.object({}),
    output: KnowledgeBaseList,
    ...more,
    run: () => listKnowledgeBases(ctx, caller),
  })

  addTool(server, exchange, 'search', {
    title: 'Search by keywords',
    description:
      'Finds pages by keywords, in one knowledge base or in all, and counts all matches. Use retrieve instead to answer a question. Read ' +
      `a found page with fetch. ${isData}`,
    input: z.object({
      query: SearchQuery.shape.q,
      kb: Kb.describe('Slug or UUID of one knowledge base. Default: all of them.').optional(),
      kind: SearchQuery.shape.kind.describe('`wiki`: only Neurons. `source`: only uploaded documents. Default: `all`.'),
      limit: z.int().min(1).max(100).default(10).describe('Maximum number of results, 1 to 100. Default: 10.'),
      offset: z.int().min(0).max(maxOffset).optional().describe('Results to skip, 0 to 1,000.'),
    }),
    output: Found,
    ...more,
    run: async ({ query: q, ...query }) => {
      const { hits, total } = await searchTenant(ctx, caller, { q, ...query })
      const results = hits.map(({ kb = query.kb ?? '', seqId, id, title, path, highlight }) => ({
        id: `${kb}/${seqId ?? id}`,
        title: title ?? path,
        url: ctx.urls.page(seqId === null ? sourcePage(kb, id) : neuronPage(kb, seqId)),
        text: highlightText(highlight, '**'),
      }))
      return { results, total }
    },
  })

  addTool(server, exchange, 'fetch', {
    title: 'Fetch a found page',
    description: `Returns the whole text of a page or document that search has found, by its id. ${isData}`,
    input: z.object({ id: z.string().min(1).max(300).describe('`id` of a result of search, or a seqId.') }),
    output: Fetched,
    ...more,
    run: ({ id }) => fetchDocument(ctx, caller, id),
  })

  addTool(server, exchange, 'retrieve', {
    title: 'Retrieve passages for a question',
    description:
      'Returns the passages of a knowledge base that bear on a question in natural language, best first, each with the seqId of ' +
      'its Neuron. Use it before you answer from a knowledge base, and cite the seqIds of the passages that you use. Without ' +
      `passages, the knowledge base does not have the answer. ${isData}`,
    input: RetrieveInput.safeExtend({ kb: Kb }),
    output: RetrieveAnswer,
    ...more,
    run: async ({ kb, ...input }) => {
      const shown = await previewing(ctx, caller, input.preview, kb)
      return shown.told(await retrieve(shown.ctx, caller, kb, input))
    },
    toText: ({ formattedContext }) => formattedContext || 'The knowledge base holds nothing on this.',
  })

  addTool(server, exchange, 'read_neuron', {
    title: 'Read a Neuron',
    description:
      'Returns a whole Neuron with its version, links and backlinks. Use it before you propose a correction, or to follow a link. ' +
      isData,
    input: z.object({ kb: Kb, seqId: SeqId, at: NeuronQuery.shape.at }),
    output: Neuron,
    ...more,
    run: (neuron) => readNeuron(ctx, caller, neuron),
    toText: ({ title, seqId, version, content }) => `# ${title}\n\n[${seqId}], version ${version}\n\n${content}`,
  })

  addTool(server, exchange, 'links', {
    title: 'Follow the links of a Neuron',
    description: 'Returns the Neurons around one, with the links among them in both directions and their types.',
    input: z.object({
      kb: Kb,
      seqId: SeqId,
      depth: z.int().min(1).max(5).default(1).describe('Maximum number of links away, 1 to 5. Default: 1.'),
      limit: z.int().min(1).max(1000).default(50).describe('Maximum number of Neurons, 1 to 1,000. Default: 50.'),
    }),
    output: Graph,
    ...more,
    run: ({ kb, seqId: around, depth, limit }) => readGraph(ctx, caller, kb, { around, depth, limit }),
  })
}

/**
 * Returns a Neuron or the first part of a Source, by the id from a search, the URI of a resource, or a bare seqId.
 * @throws {GanglionError} `not_found`
 */
async function fetchDocument(ctx: Context, caller: Caller, id: string): Promise<FetchedDocument> {
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

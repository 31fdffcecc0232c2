import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { Cursor } from '../../contract/envelope.ts'
import { CommitId } from '../../contract/identifiers.ts'
import { NeuronPath } from '../../contract/neurons.ts'
import { callerOf } from '../../http/access/auth.ts'
import { answerFile } from '../../http/response/file-answer.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { readFile } from '../../pages/attachments/read-file.ts'
import { compareLines, comparePages } from '../../pages/compare-pages.ts'
import { describeKb } from '../../pages/describe-kb.ts'
import { readLooseEnds } from '../../pages/graph/read-loose-ends.ts'
import { readWholeGraph } from '../../pages/graph/read-whole-graph.ts'
import { listNeurons } from '../../pages/list-neurons.ts'
import { readHistory, readVersions } from '../../pages/read-history.ts'
import { readPage } from '../../pages/read-page.ts'
import { readTags } from '../../pages/read-tags.ts'
import { readTree } from '../../pages/read-tree.ts'
import { noteQuestion } from '../../search/kb/note-question.ts'
import { KbParams } from '../layout/page-query.ts'
import { send } from '../layout/send.ts'
import { visitOf } from '../layout/visit.ts'
import { graphPage } from './graph-page.ts'
import { comparisonPage, historyPage } from './history-page.ts'
import { foldersOf, neuronView } from './neuron-page.ts'
import { kbRail } from './rail.ts'
import { taggedPage, tagsPage } from './tags-page.ts'
import { folderPage } from './tree-page.ts'

const count = z
  .string()
  .regex(/^[1-9][0-9]{0,8}$/, 'must be a whole number from 1')
  .transform(Number)
/** A commit that is left empty asks for the page of today. */
const ReadQuery = z.object({
  at: CommitId.exactOptional(),
  done: z.enum(['published', 'renamed']).exactOptional(),
  /** The search whose result it is. */
  for: z.string().max(1000).exactOptional(),
})
const HistoryQuery = z.object({
  from: count.exactOptional(),
  to: count.exactOptional(),
  view: z.enum(['lines', 'side', 'page']).default('lines'),
  before: count.exactOptional(),
})
const TreeQuery = z.object({ folder: z.string().max(1000).default(''), cursor: Cursor.exactOptional() })
const TagsQuery = z.object({
  q: z.string().max(200).default(''),
  page: count.default(1),
  tag: z.string().min(1).max(200).exactOptional(),
  cursor: Cursor.exactOptional(),
})

const GraphQuery = z.object({ ends: z.literal('1').exactOptional() })

/** Pages of a graph that is shown with its loose ends at once. */
const maxWaited = 1000
const treeLimit = 200
const listLimit = 50

/** Adds the pages that read Neurons: one of them, its history, folders, tags, the graph, and the files of a knowledge base. */
export function neuronPageRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/kb/:kb/neurons/:seqId',
    { schema: { hide: true, params: NeuronPath, querystring: ReadQuery } },
    async (request, reply) => {
      const { done, for: question, ...version } = request.query
      const caller = callerOf(request)
      const view = await readPage(ctx, caller, { ...request.params, ...version })
      const { path, seqId } = view.neuron
      if (question !== undefined) {
        const kb = await ctx.readableKb(caller.tenantId, request.params.kb)
        await noteQuestion(ctx, caller, kb, question, { opened: seqId })
      }
      const rail = await kbRail(ctx, caller, view.kb.slug, { folders: foldersOf(path), seqId })
      return send(reply, neuronView(visitOf(request), view, { done, rail }))
    },
  )

  app.get(
    '/kb/:kb/neurons/:seqId/history',
    { schema: { hide: true, params: NeuronPath, querystring: HistoryQuery } },
    async (request, reply) => {
      const { from, to, view, before } = request.query
      const caller = callerOf(request)
      if (from === undefined || to === undefined) {
        const history = await readHistory(ctx, caller, { ...request.params, before, limit: listLimit })
        return send(reply, historyPage(visitOf(request), history))
      }
      const { kb, seqId } = request.params
      const versions = await readVersions(ctx, caller, { kb, seqId, from, to })
      const texts = { before: versions.before.text, after: versions.after.text }
      const contents = { before: versions.before.content, after: versions.after.content }
      const difference =
        view === 'page'
          ? await comparePages(ctx, caller, { kb, path: versions.after.path, ...contents })
          : await compareLines(ctx, texts)
      return send(reply, comparisonPage(visitOf(request), { ...versions, seqId, view, difference }))
    },
  )

  app.get(
    '/kb/:kb/tree',
    { schema: { hide: true, params: KbParams, querystring: TreeQuery } },
    async (request, reply) => {
      const caller = callerOf(request)
      const { kb } = request.params
      const { folder } = request.query
      const tree = await readTree(ctx, caller, kb, { ...request.query, limit: treeLimit })
      const rail = await kbRail(ctx, caller, kb, { folders: folder === '' ? [] : folder.split('/') })
      return send(reply, folderPage(visitOf(request), tree, rail))
    },
  )

  app.get(
    '/kb/:kb/tags',
    { schema: { hide: true, params: KbParams, querystring: TagsQuery } },
    async (request, reply) => {
      const { kb } = request.params
      const { tag, cursor, q, page } = request.query
      const caller = callerOf(request)
      const tags = await readTags(ctx, caller, kb, { q, page })
      if (tag === undefined) return send(reply, tagsPage(visitOf(request), tags, q))
      const query = { tag, limit: listLimit, ...(cursor === undefined ? {} : { cursor }) }
      return send(reply, taggedPage(visitOf(request), tags.kb, tag, await listNeurons(ctx, caller, kb, query)))
    },
  )

  app.get(
    '/kb/:kb/graph',
    { schema: { hide: true, params: KbParams, querystring: GraphQuery } },
    async (request, reply) => {
      const caller = callerOf(request)
      const kb = await describeKb(ctx, caller, request.params.kb)
      const graph = await readWholeGraph(ctx, caller, kb.slug)
      const isLater = graph.nodes.length > maxWaited && request.query.ends === undefined
      const ends = isLater ? undefined : await readLooseEnds(ctx, caller, kb.slug)
      return send(reply, graphPage(visitOf(request), kb, { graph, ends }))
    },
  )

  app.get('/kb/:kb/graph/data', { schema: { hide: true, params: KbParams } }, async (request) => {
    const { nodes, edges } = await readWholeGraph(ctx, callerOf(request), request.params.kb)
    const places = new Map(nodes.map(({ seqId }, index) => [seqId, index]))
    return {
      nodes: nodes.map(({ seqId, title }) => ({ seqId, title })),
      links: edges.map(({ source, target }) => [places.get(source), places.get(target)]),
    }
  })

  app.get(
    '/kb/:kb/files/*',
    { schema: { hide: true, params: KbParams.extend({ '*': z.string() }) } },
    async (request, reply) => {
      const { kb, '*': path } = request.params
      return answerFile(request, reply, await readFile(ctx, callerOf(request), kb, path))
    },
  )
}

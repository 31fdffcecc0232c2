import type { NeuronPage } from '../contract/neurons.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import { listNeurons } from './list-neurons.ts'
import { markdownLine } from './page-markdown.ts'

type Listed = NeuronPage['neurons'][number]

const maxNeurons = 5000
const pageSize = 500

/**
 * Returns an index of a knowledge base for language models, after the proposal of llmstxt.org: how to ask, then the Neurons visible to the
 * caller, by their first folder and by seqId; the first 5,000, and where the listing continues.
 * @throws {GanglionError} `not_found`
 */
export async function llmsText(ctx: Context, caller: Caller, kbName: string): Promise<string> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  const { slug, prefix } = kb.identity
  const { title } = await kb.settings()
  const { neurons, nextCursor } = await firstNeurons(ctx, caller, kbName)
  const api = `${ctx.urls.base}/api/v1/knowledge-bases/${slug}`
  const line = ({ seqId, title, tags }: Listed) =>
    `- [${markdownLine(title)}](${ctx.urls.neuron(slug, seqId)}.md): ${[seqId, ...tags.map(markdownLine)].join(', ')}`
  const parts = [
    `# ${markdownLine(title ?? slug)}`,
    '> A knowledge base of curated pages, called Neurons. ' +
      `Retrieve what bears on a question with \`POST ${api}/retrieve\`, search with \`GET ${api}/search?q=\`, and cite a ` +
      `Neuron by its seqId, like [${prefix}_00000001].`,
    ...byFolder(neurons).map(([heading, listed]) => `## ${markdownLine(heading)}\n\n${listed.map(line).join('\n')}`),
  ]
  if (nextCursor !== null) {
    parts.push(
      `## More\n\n- [The next Neurons](${api}/neurons?cursor=${nextCursor}): the list goes on there, page by page`,
    )
  }
  return `${parts.join('\n\n')}\n`
}

/** Returns how to use a server, for language models that do not know it. It tells nothing that needs a key. */
export function serverLlmsText({ base }: Pick<Context['urls'], 'base'>): string {
  return `# Ganglion

> A server that keeps knowledge bases of curated pages, called Neurons, in git. Agents search and cite them, and propose changes, which a
> curator approves. All but this page needs an API key as a bearer token, or OAuth.

- [Model Context Protocol](${base}/mcp): tools to search, ask, read, propose, and answer what a curator asks
- [Knowledge bases](${base}/api/v1/knowledge-bases): each has an index at \`${base}/api/v1/knowledge-bases/{kb}/llms.txt\`
- [The HTTP API](${base}/openapi.json): its description in OpenAPI 3.1
- [The HTTP API, for people](${base}/docs)
`
}

async function firstNeurons(ctx: Context, caller: Caller, kbName: string): Promise<NeuronPage> {
  const neurons: Listed[] = []
  let cursor: string | null = null
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await listNeurons(ctx, caller, kbName, { ...from, limit: pageSize })
    neurons.push(...page.neurons)
    cursor = page.nextCursor
  } while (cursor !== null && neurons.length < maxNeurons)
  return { neurons, nextCursor: cursor }
}

/**
 * Groups Neurons by the first folder below `neurons/`, if there are several; those in none come first. The slash after a folder's name keeps
 * a folder `Optional` from being skipped, which is what llmstxt.org lets readers do with a section of this name.
 */
function byFolder(neurons: readonly Listed[]): [heading: string, Listed[]][] {
  const folders = Map.groupBy(neurons, ({ path }) => /^neurons\/([^/]+)\//.exec(path)?.[1] ?? '')
  if (folders.size === 1) return [['Neurons', [...neurons]]]
  const sorted = [...folders].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([folder, listed]) => [folder === '' ? 'Neurons' : `${folder}/`, listed])
}

import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from '@modelcontextprotocol/server'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import { llmsText } from '../../pages/llms-txt.ts'
import { readNeuron } from '../../pages/read-neuron.ts'
import { refusalOf } from '../response/error-answer.ts'
import type { Exchange } from './tool.ts'

const mimeType = 'text/markdown'

/** Adds resources that a person can attach for a model: the index of each knowledge base, and each Neuron. */
export function addResources(server: McpServer, { ctx, caller, request }: Exchange): void {
  const answer = async (uri: URL, read: () => Promise<string>) => {
    try {
      return { contents: [{ uri: uri.href, mimeType, text: await read() }] }
    } catch (error) {
      const { status, body } = refusalOf(error, request)
      const code = status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
      throw new ProtocolError(code, String(body.message), body)
    }
  }
  const list = async () => {
    const { knowledgeBases } = await listKnowledgeBases(ctx, caller)
    return {
      resources: knowledgeBases.map(({ slug, title }) => ({
        ...{ uri: `ganglion://${slug}`, name: slug, title, mimeType },
        description: `Index of the knowledge base ${slug}: its pages, called Neurons.`,
      })),
    }
  }
  server.registerResource(
    'knowledge-base',
    new ResourceTemplate('ganglion://{kb}', { list }),
    { title: 'Knowledge base', description: 'Index of a knowledge base.', mimeType },
    (uri, { kb }) => answer(uri, () => llmsText(ctx, caller, String(kb))),
  )
  server.registerResource(
    'neuron',
    new ResourceTemplate('ganglion://{kb}/{seqId}', { list: undefined }),
    { title: 'Neuron', description: 'A page of a knowledge base, by its seqId.', mimeType },
    (uri, { kb, seqId }) =>
      answer(uri, async () => {
        const { title, content } = await readNeuron(ctx, caller, { kb: String(kb), seqId: String(seqId) })
        return `# ${title}\n\n${content}`
      }),
  )
}

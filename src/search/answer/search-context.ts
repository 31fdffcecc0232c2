import type { RetrieveChunk } from '../../contract/search.ts'
import type { Audience } from '../../rules/access/audience.ts'

/**
 * Chunks as Markdown for who asked: terse for a tool, a text with its references for people. What a Neuron says is quoted, so
 * that it cannot pass for another one's heading; each is named by its seqId, by which it can be cited.
 */
export function formatContext(chunks: readonly RetrieveChunk[], audience: Audience): string {
  return chunks.map(audience === 'tool' ? forTool : audience === 'curator' ? forCurator : forReader).join('\n\n')
}

function forTool({ seqId, title, headerBreadcrumb, content }: RetrieveChunk): string {
  const place = [title, ...(headerBreadcrumb === '' ? [] : [headerBreadcrumb])].map(oneLine).join(' > ')
  return `[${seqId}] ${place}\n${quote(content.replace(/\n{2,}/g, '\n'))}`
}

function forReader({ seqId, title, headerBreadcrumb, content }: RetrieveChunk): string {
  const under = headerBreadcrumb === '' ? [] : [`*${oneLine(headerBreadcrumb)}*`]
  return [`### ${oneLine(title)}`, ...under, quote(content), `— [${seqId}]`].join('\n\n')
}

function forCurator(chunk: RetrieveChunk): string {
  return `${forReader(chunk)} ${chunk.neuronPath}, rank ${chunk.rank.toFixed(2)}`
}

function quote(markdown: string): string {
  return markdown.replace(/^/gm, '> ')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

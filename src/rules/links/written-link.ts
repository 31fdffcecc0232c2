import type { EdgeType } from '../../contract/vocabulary.ts'
import type { Edge, WikiLink } from '../neurons/neuron.ts'

/** Syntax of a link: an edge of the front matter, `[[…]]`, or `[…](…)`. */
export type LinkForm = 'edge' | 'wiki' | 'markdown'

/** Link of a Neuron as written: an edge of its front matter, or a link of its front matter or body. */
export type WrittenLink = {
  form: LinkForm
  type: EdgeType
  /** Slug of another KB. */
  kb: string | null
  target: string
  embed: boolean
  /** Line of the body, from 1. Null for the front matter. */
  line: number | null
}

/** Returns the links of a Neuron in order: edges first, then other links of the front matter. */
export function writtenLinks(
  { edges, properties = [] }: { edges: readonly Edge[]; properties?: readonly Omit<WikiLink, 'line'>[] },
  links: readonly WikiLink[],
): WrittenLink[] {
  return [
    ...edges.map(({ type, target }) => ({ form: 'edge' as const, type, kb: null, target, embed: false, line: null })),
    ...properties.map((link) => ({ ...written(link), line: null })),
    ...links.map((link) => ({ ...written(link), line: link.line })),
  ]
}

function written({ form, type = 'cites', kb, target, embed }: Omit<WikiLink, 'line'>): Omit<WrittenLink, 'line'> {
  return { form: form ?? 'wiki', type, kb: kb ?? null, target, embed }
}

import { isDeepStrictEqual } from 'node:util'
import { EdgeType } from '../contract/vocabulary.ts'
import { maxPageBytes } from '../knowledge/check-file.ts'
import type { WikiLink } from '../knowledge/neuron.ts'
import { splitBody } from './file-body.ts'
import { fileLayout, hasReadableSize, parseFrontMatter } from './front-matter.ts'
import { editFrontMatter, FrontMatterError } from './front-matter-edit.ts'
import type { LinkPlace } from './link-places.ts'
import type { ParserPool } from './parser-pool.ts'
import { parseWikiLinkText } from './wiki-link-text.ts'
import type { YamlValue } from './yaml-value.ts'

/** Where a link shall lead, and what a reader sees of it then, where that is not the target itself. */
export type NewTarget = { target: string; alias?: string }

/** The new target of one as it is written; `kb` as the link names it. Nothing: the link stays. */
export type Retarget = (target: string, kb: string | null) => NewTarget | undefined

/** What would end a link or its target, or begin another part of it. */
const unwritable = /[[\]|#\\\p{Cc}\p{Zl}\p{Zp}]/u
const unwritableAlias = /[[\]|\\\p{Cc}\p{Zl}\p{Zp}]/u

/** Whether a name can be the target of a wiki link, and is read back as itself. */
export function isWritableTarget(name: string): boolean {
  return !unwritable.test(name) && isDeepStrictEqual(parseWikiLinkText(name), { target: name })
}

/**
 * A Neuron's file with other targets in its wiki links and edges, and every other byte of its content as it was: type, knowledge base,
 * heading, alias and the space around the target stay. A link without an alias gets that of its new target, or where
 * that cannot be written in a link, the old target, so that a reader sees what was there. `undefined` where a link that should
 * change cannot: the text takes too long to parse, is not UTF-8, would grow too large, or with the new targets would no
 * longer hold the same links.
 */
export async function rewriteLinks(parser: ParserPool, text: string, retarget: Retarget): Promise<string | undefined> {
  const { data, body, bodyStart } = parseFrontMatter(text)
  const { content, contentStart } = splitBody(body, fileLayout(text).eol)
  const start = bodyStart + contentStart
  const rewritten = await rewriteContent(parser, content, retarget)
  if (rewritten === undefined) return undefined
  const edited = rewriteEdges(
    text.slice(0, start) + rewritten + text.slice(start + content.length),
    data.edges,
    retarget,
  )
  if (edited === text) return text
  // What was not UTF-8 has been read as this, and could not be written back.
  if (edited === undefined || text.includes('\uFFFD')) return undefined
  return Buffer.byteLength(edited) <= maxPageBytes && hasReadableSize(edited) ? edited : undefined
}

async function rewriteContent(parser: ParserPool, content: string, retarget: Retarget): Promise<string | undefined> {
  const { links } = await parser.links(content)
  if (!links.some(({ target, kb = null }) => retarget(target, kb))) return content
  const places = await parser.linkPlaces(content)
  if (places === undefined) return undefined
  let result = ''
  let at = 0
  const expected: WikiLink[] = []
  for (const { link, start, end, close, separator } of places) {
    const wanted = newLink(link, retarget)
    expected.push(wanted)
    if (wanted === link) continue
    const alias = wanted.alias === link.alias ? '' : `${separator}${wanted.alias}`
    result += content.slice(at, start) + wanted.target + content.slice(end, close) + alias
    at = close
  }
  result += content.slice(at)
  // A target may complete what stands around it to something else, such as code or another link.
  const read = await parser.links(result)
  return isDeepStrictEqual(read, { links: expected }) ? result : undefined
}

function newLink(link: LinkPlace['link'], retarget: Retarget): WikiLink {
  const wanted = retarget(link.target, link.kb ?? null)
  if (wanted === undefined || wanted.target === link.target) return link
  const { target, alias } = wanted
  if (alias === undefined || link.alias !== undefined) return { ...link, target }
  const isWritable = alias.trim() !== '' && !unwritableAlias.test(alias)
  return { ...link, target, alias: isWritable ? alias.trim() : link.target }
}

/** Items that are no edges stay. `undefined` where the front matter cannot be edited. */
function rewriteEdges(text: string, edges: YamlValue | undefined, retarget: Retarget): string | undefined {
  if (!Array.isArray(edges)) return text
  const rewritten = edges.map((edge) => {
    if (typeof edge === 'string' || Array.isArray(edge) || typeof edge.target !== 'string') return edge
    const wanted = EdgeType.safeParse(edge.type).success ? retarget(edge.target, null) : undefined
    return wanted === undefined ? edge : { ...edge, target: wanted.target }
  })
  if (rewritten.every((edge, index) => edge === edges[index])) return text
  try {
    return editFrontMatter(text, { edges: rewritten })
  } catch (error) {
    if (error instanceof FrontMatterError) return undefined
    throw error
  }
}

import { isDeepStrictEqual } from 'node:util'
import { EdgeType } from '../../contract/vocabulary.ts'
import { maxPageBytes } from '../../rules/check/checked-file.ts'
import type { WrittenLink } from '../../rules/links/written-link.ts'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { fileLayout, hasReadableSize, parseFrontMatter, splitBody } from '../file/front-matter.ts'
import { editFrontMatter, FrontMatterError } from '../file/front-matter-edit.ts'
import { readNeuronFields } from '../file/neuron-fields.ts'
import { changeProperties } from '../file/property-links.ts'
import { formatDestination } from '../links/markdown-link.ts'
import { linkPattern, linksInLine } from '../links/pattern-links.ts'
import { parseWikiLinkText } from '../parse/wiki-link-text.ts'
import type { ParserPool } from '../pool/parser-pool.ts'
import type { YamlMap, YamlValue } from '../yaml/yaml.ts'

/** New target of a link, and the label to show if it differs from the target. */
export type NewTarget = { target: string; alias?: string }

/** Link as written. `kb`: name of the knowledge base in the link. */
export type RetargetedLink = Pick<WrittenLink, 'target' | 'form' | 'kb'>

/** Returns the new target of a link, or undefined to keep it. */
export type Retarget = (link: RetargetedLink) => NewTarget | undefined

/** Matches characters that would end a link or its target, or begin another part of it. */
const unwritable = /[[\]|#\\\p{Cc}\p{Zl}\p{Zp}]/u
const unwritableAlias = /[[\]|\\\p{Cc}\p{Zl}\p{Zp}]/u

/** True if a name can be the target of a wiki link and is parsed back as itself. */
export function isWritableTarget(name: string): boolean {
  return !unwritable.test(name) && isDeepStrictEqual(parseWikiLinkText(name), { target: name })
}

/**
 * Rewrites the targets of links and edges in a Neuron's file, and keeps every other byte of its content: type, knowledge base, heading,
 * alias, title and the space around a target. A wiki link without an alias gets that of its new target, or the old target if the alias
 * cannot be written in a link, so that readers see the same text. Returns `undefined` if a link cannot be changed: the text is too complex
 * to parse, is not UTF-8, would grow too large, or would no longer contain the same links.
 */
export async function rewriteLinks(parser: ParserPool, text: string, retarget: Retarget): Promise<string | undefined> {
  const { data, body, bodyStart } = parseFrontMatter(text)
  const { content, contentStart } = splitBody(body, fileLayout(text).eol)
  const start = bodyStart + contentStart
  const rewritten = await rewriteContent(parser, content, retarget)
  if (rewritten === undefined) return undefined
  const edited = rewriteFrontMatter(
    text.slice(0, start) + rewritten + text.slice(start + content.length),
    data,
    retarget,
  )
  if (edited === text) return text
  // Bytes that are not UTF-8 were decoded as U+FFFD and could not be written back.
  if (edited === undefined || text.includes('\uFFFD')) return undefined
  return Buffer.byteLength(edited) <= maxPageBytes && hasReadableSize(edited) ? edited : undefined
}

async function rewriteContent(parser: ParserPool, content: string, retarget: Retarget): Promise<string | undefined> {
  const { links, ...parsed } = await parser.links(content)
  if (!links.some((link) => newLink(link, retarget) !== link)) return content
  const places = await parser.linkPlaces(content)
  if (places === undefined) return undefined
  // Reference links share the destination of their definition.
  const edits = new Map<number, { end: number; text: string }>()
  const expected: WikiLink[] = []
  for (const { link, start, end, alias } of places) {
    const wanted = newLink(link, retarget)
    expected.push(wanted)
    if (wanted === link) continue
    edits.set(start, { end, text: link.form === 'markdown' ? formatDestination(wanted.target) : wanted.target })
    if (alias !== undefined && wanted.alias !== link.alias) {
      edits.set(alias.at, { end: alias.at, text: `${alias.separator}${wanted.alias}` })
    }
  }
  const result = applyEdits(content, edits)
  // A new target may combine with the text around it to code or to another link.
  const read = await parser.links(result)
  return isDeepStrictEqual(read, { links: expected, ...parsed }) ? result : undefined
}

function applyEdits(content: string, edits: ReadonlyMap<number, { end: number; text: string }>): string {
  let result = ''
  let at = 0
  for (const [start, { end, text }] of [...edits].sort(([a], [b]) => a - b)) {
    result += content.slice(at, start) + text
    at = end
  }
  return result + content.slice(at)
}

function newLink<Link extends Omit<WikiLink, 'line'>>(link: Link, retarget: Retarget): Link {
  const { form = 'wiki', kb = null } = link
  const wanted = retarget({ target: link.target, form, kb })
  if (wanted === undefined || wanted.target === link.target) return link
  const { target, alias } = wanted
  if (form === 'markdown' || alias === undefined || link.alias !== undefined) return { ...link, target }
  const isWritable = alias.trim() !== '' && !unwritableAlias.test(alias)
  return { ...link, target, alias: isWritable ? alias.trim() : link.target }
}

/** Rewrites links in front matter. Returns `undefined` if it cannot be edited. */
function rewriteFrontMatter(text: string, data: YamlMap, retarget: Retarget): string | undefined {
  const { extra } = readNeuronFields(data)
  const edges = rewrittenEdges(data.edges, retarget)
  const changes = {
    ...(edges === undefined ? {} : { edges }),
    ...changeProperties(extra, (property) => rewriteProperty(property, retarget)),
  }
  if (Object.keys(changes).length === 0) return text
  try {
    return editFrontMatter(text, changes)
  } catch (error) {
    if (error instanceof FrontMatterError) return undefined
    throw error
  }
}

/** Rewrites the links in a text of the front matter. */
function rewriteProperty(property: string, retarget: Retarget): string {
  return property.replace(linkPattern, (whole: string) => {
    const [link] = linksInLine(whole)
    const wanted = link && newLink(link, retarget)
    if (link === undefined || wanted === undefined || wanted === link) return whole
    if (link.form === 'markdown') {
      const path = whole.lastIndexOf('](') + 2
      return (
        whole.slice(0, path) +
        whole
          .slice(path)
          .replace(/^<?[^?#>)]*/, () => formatDestination(wanted.target))
          .replace(/>\)$/, ')')
      )
    }
    const at = whole.indexOf(link.target, whole.indexOf('[[') + 2)
    const alias = wanted.alias === link.alias ? '' : `|${wanted.alias}`
    return `${whole.slice(0, at)}${wanted.target}${whole.slice(at + link.target.length, -2)}${alias}]]`
  })
}

/** Rewrites edges; items that are no edges stay. Returns `undefined` if nothing changes. */
function rewrittenEdges(edges: YamlValue | undefined, retarget: Retarget): YamlValue[] | undefined {
  if (!Array.isArray(edges)) return undefined
  const rewritten = edges.map((edge) => {
    if (typeof edge === 'string' || Array.isArray(edge) || typeof edge.target !== 'string') return edge
    const isEdge = EdgeType.safeParse(edge.type).success
    const wanted = isEdge ? retarget({ target: edge.target, form: 'edge', kb: null }) : undefined
    return wanted === undefined ? edge : { ...edge, target: wanted.target }
  })
  return rewritten.every((edge, index) => edge === edges[index]) ? undefined : rewritten
}

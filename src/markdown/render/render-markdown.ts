import type { Element, ElementContent, Root as Html } from 'hast'
import type { Blockquote, Root } from 'mdast'
import { refractor } from 'refractor'
import rehypeRaw from 'rehype-raw'
import rehypeSanitize from 'rehype-sanitize'
import rehypeStringify from 'rehype-stringify'
import remarkRehype from 'remark-rehype'
import { unified } from 'unified'
import { headingId } from '../../rules/links/headings.ts'
import { hastText, nodesOf } from '../nodes.ts'
import { hideMarks } from '../obsidian-marks.ts'
import { parseParts } from '../parse/parse-parts.ts'
import { become, element, elementsOf, text } from './elements.ts'
import { type LinkTable, markLinks } from './mark-links.ts'
import { placeLinks } from './place-links.ts'
import { contentIdPrefix, safeSchema } from './safe-html.ts'

const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']

/** Attributes that contain ids, with the prefix that the sanitizer added. */
const naming = ['id', 'ariaDescribedBy', 'ariaLabelledBy'] as const

/** Blocks whose text direction follows their own first letter. */
const directed = new Set('p h2 h3 h4 h5 h6 ul ol li blockquote td th dt dd summary'.split(' '))

/** Containers that need a direction of their own, since `auto` does not look into blocks that have one. */
const containers = new Set(['ul', 'ol', 'blockquote', 'table'])
const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u

/** Attributes of blocks that scroll sideways, which makes them scrollable by keyboard. */
const scrolled = { tabIndex: 0, role: 'group' }

/** Maximum characters of code that are highlighted, in a block and in a page. */
const maxBlock = 20_000
const maxPage = 100_000

/** Elements of a heading that must not be lost: links, pictures, and targets of links. */
const kept = ['a', 'img', 'input']

export type RenderRequest = {
  /** Markdown without front matter. */
  content: string
  links: LinkTable
  /** Prefix of every id, for a document with several pages; `null`: no ids. Absent: links from other pages find the headings. */
  idPrefix?: string | null
  /** Title shown above the page. An opening heading of level 1 that repeats it is left out. */
  title?: string | undefined
}

/** Rendered blocks. `isPartial`: a part was too complex to parse, and is shown as written. */
export type RenderedParts = { blocks: string[]; isPartial: boolean }

const stringifier = unified().use(rehypeStringify).freeze()
const footnotes = { footnoteLabelTagName: 'h1', footnoteLabelProperties: { className: ['unseen'] }, clobberPrefix: '' }

/**
 * Renders the blocks of a page as safe HTML. Not safe on hostile text, which can take long or exhaust the stack: untrusted text must go
 * through a RenderPool.
 */
export function renderBlocks({ content, links, idPrefix = contentIdPrefix, title }: RenderRequest): RenderedParts {
  const { tree, isPartial } = parse(content)
  const marked = markLinks(tree, links)
  markCallouts(tree)
  hideMarks(tree)
  const html = safeHtml(tree, idPrefix ?? contentIdPrefix)
  const heading = title === undefined ? undefined : titleHeading(html, title)
  placeLinks(html, marked)
  placeIds(html, idPrefix ?? undefined, heading)
  frameBlocks(html)
  placeCallouts(html)
  highlightCode(html)
  const blocks = html.children.filter((node) => node.type !== 'text' || node.value.trim() !== '')
  const isEmpty = blocks.every((node) => node === heading)
  const shown = isEmpty ? [] : blocks.map((node) => stringifier.stringify({ type: 'root', children: [node] }))
  return { blocks: shown, isPartial }
}

/** Parses a page part by part. A part that is too complex becomes a code block, which shows it as written. */
function parse(content: string): { tree: Root; isPartial: boolean } {
  const parts = parseParts(content)
  const children = parts.flatMap(
    ({ tree, source }): Root['children'] => tree?.children ?? [{ type: 'code', value: source }],
  )
  return { tree: { type: 'root', children }, isPartial: parts.some(({ tree }) => tree === undefined) }
}

function safeHtml(tree: Root, idPrefix: string): Html {
  const processor = unified()
    .use(remarkRehype, { allowDangerousHtml: true, ...footnotes })
    .use(rehypeRaw)
    .use(rehypeSanitize, safeSchema(idPrefix))
  return processor.runSync(tree)
}

/** Returns the heading of level 1 that opens a page, if it only repeats the page's title. */
function titleHeading(root: Html, title: string): Element | undefined {
  const first = root.children.find((node) => node.type !== 'text' || node.value.trim() !== '')
  if (first?.type !== 'element' || first.tagName !== 'h1') return undefined
  const [, ...inner] = elementsOf({ type: 'root', children: [first] })
  const holdsMore = inner.some(({ element }) => kept.includes(element.tagName) || element.properties.id !== undefined)
  return !holdsMore && spaced(hastText(first)) === spaced(title) ? first : undefined
}

function spaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Highlights code whose fence names a language. Grammars are patterns that may be slow, which is why the amount is limited. */
function highlightCode(root: Html): void {
  let left = maxPage
  for (const { element: pre } of elementsOf(root)) {
    const [code] = pre.tagName === 'pre' ? pre.children : []
    if (code?.type !== 'element' || code.tagName !== 'code') continue
    const language = languageOf(code)
    const source = hastText(code)
    if (language === undefined || source.length > Math.min(maxBlock, left)) continue
    left -= source.length
    code.children = refractor.highlight(source, language).children as Element['children']
  }
}

function languageOf({ properties }: Element): string | undefined {
  const [name] = Array.isArray(properties.className) ? properties.className : []
  const language = String(name ?? '')
    .replace(/^language-/, '')
    .toLowerCase()
  return refractor.registered(language) ? language : undefined
}

/** Makes the blocks of a page accessible: text direction, keyboard scrolling, and labels for task checkboxes. */
function frameBlocks(root: Html): void {
  for (const { element: found } of elementsOf(root)) {
    const { tagName, properties } = found
    if (directed.has(tagName)) properties.dir = 'auto'
    if (containers.has(tagName) && rightToLeft.test(/\p{L}/u.exec(hastText(found))?.[0] ?? '')) properties.dir = 'rtl'
    if (tagName === 'input') properties.ariaLabel = properties.checked === true ? 'Done' : 'To do'
    if (tagName === 'th' && hastText(found).trim() === '' && !hasImage(found)) found.tagName = 'td'
    if (tagName === 'pre') Object.assign(properties, { ...scrolled, ariaLabel: 'Code' })
    if (tagName === 'table') frame(found)
  }
}

function frame(table: Element): void {
  const { tagName, properties, children } = table
  const properTable = element(tagName, properties, children)
  become(table, element('div', { className: ['table-scroll'], ...scrolled, ariaLabel: 'Table' }, [properTable]))
}

function hasImage(cell: Element): boolean {
  return cell.children.some((child) => child.type === 'element' && child.tagName === 'img')
}

/**
 * Gives headings the ids that links use, besides their own ids, resolves links within the page, and makes ids unique. The page's title is
 * its `h1`, so its highest headings become `h2`. Without a prefix there are no ids, for a page whose parts are shown separately. @param
 * title the heading that repeats the page's title; it is reduced to a target for links
 */
function placeIds(root: Html, prefix: string | undefined, title?: Element): void {
  const elements = elementsOf(root).map(({ element }) => element)
  const ids = new Set<string>()
  for (const found of elements) keepId(found, prefix === undefined ? undefined : ids)
  const levels = elements.map((found) => (found === title || isUnseen(found) ? -1 : headings.indexOf(found.tagName)))
  const highest = Math.min(...levels.filter((level) => level >= 0))
  for (const found of elements) {
    const level = headings.indexOf(found.tagName)
    if (level < 0) continue
    found.tagName = headings[Math.max(level - highest, 0) + 1] ?? 'h6'
    const id = headingId(hastText(found))
    if (prefix === undefined || id === '') continue
    if (found.properties.id === undefined) found.properties.id = unusedId(`${prefix}${id}`, ids)
    else if (found !== title && !ids.has(`${prefix}${id}`))
      found.children.unshift(element('span', { id: unusedId(`${prefix}${id}`, ids) }, []))
  }
  for (const found of elements) if (found.tagName === 'a') lead(found, prefix, ids)
  if (title !== undefined) {
    const { id } = title.properties
    become(title, element('div', { className: ['title-place'], ...(id === undefined ? {} : { id }) }, []))
  }
}

/** True for the label of footnotes, which does not count for the depth of the page's own headings. */
function isUnseen({ properties: { className } }: Element): boolean {
  return Array.isArray(className) && className.includes('unseen')
}

function keepId({ properties }: Element, ids: Set<string> | undefined): void {
  if (ids === undefined) for (const name of naming) delete properties[name]
  const { id } = properties
  if (typeof id !== 'string' || ids === undefined) return
  if (ids.has(id) || /\s/.test(id)) delete properties.id
  else ids.add(id)
}

/** Returns an id, with a number appended if it is already used. */
function unusedId(wanted: string, ids: Set<string>): string {
  let id = wanted
  for (let number = 2; ids.has(id); number++) id = `${wanted}-${number}`
  ids.add(id)
  return id
}

function lead(link: Element, prefix: string | undefined, ids: ReadonlySet<string>): void {
  const { href } = link.properties
  if (typeof href !== 'string' || !href.startsWith('#')) return
  const name = decoded(href.slice(1))
  const id = [`${prefix}${name}`, `${prefix}${headingId(name)}`].find((wanted) => ids.has(wanted))
  if (id === undefined) become(link, element('span', {}, link.children))
  else link.properties.href = `#${encodeURIComponent(id)}`
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

const calloutType = /^\[!([^\]\n]{1,40})\]([+-]?)/
const styled = 'note tip important warning caution info question success failure example quote'.split(' ')

/** Stores the type and state of a callout (`> [!note]- Title`) in the tree before `hideMarks` removes it from the text. */
function markCallouts(tree: Root): void {
  for (const node of nodesOf(tree)) if (node.type === 'blockquote') markCallout(node)
}

function markCallout(quote: Blockquote): void {
  const [paragraph] = quote.children
  const [first] = paragraph?.type === 'paragraph' ? paragraph.children : []
  const [, type, fold] = (first?.type === 'text' && calloutType.exec(first.value)) || []
  if (type === undefined) return
  quote.data = { hProperties: { dataCallout: type, ...(fold ? { dataFold: fold } : {}) } }
}

/** Renders callouts as boxes with a bold title. Folded ones are `details` elements, which open without a script. */
function placeCallouts(root: Html): void {
  for (const { element: quote } of elementsOf(root)) {
    const { dataCallout, dataFold, dir } = quote.properties
    if (quote.tagName !== 'blockquote' || typeof dataCallout !== 'string') continue
    const type = dataCallout.trim().toLowerCase()
    const className = ['callout', `callout-${styled.includes(type) ? type : 'note'}`]
    const { title, body } = splitTitle(quote.children)
    const label = title.length > 0 ? title : [text(type.charAt(0).toUpperCase() + type.slice(1))]
    const head = (tagName: string) => element(tagName, { className: ['callout-title'], dir: 'auto' }, label)
    if (dataFold === undefined) become(quote, element('div', { className, dir }, [head('p'), ...body]))
    else become(quote, element('details', { className, dir, open: dataFold === '+' }, [head('summary'), ...body]))
  }
}

/** Splits off the title, which is the first line of the first paragraph. */
function splitTitle(children: readonly ElementContent[]): { title: ElementContent[]; body: ElementContent[] } {
  const at = children.findIndex(({ type }) => type === 'element')
  const first = children[at]
  if (first?.type !== 'element' || first.tagName !== 'p') return { title: [], body: [...children] }
  const lineEnd = first.children.findIndex((child) => child.type === 'element' && child.tagName === 'br')
  const title = lineEnd < 0 ? first.children : first.children.slice(0, lineEnd)
  const rest = lineEnd < 0 ? [] : [element('p', {}, first.children.slice(lineEnd + 1))]
  const hasTitle = title.some((node) => hastText(node).trim() !== '')
  return { title: hasTitle ? title : [], body: [...rest, ...children.slice(at + 1)] }
}

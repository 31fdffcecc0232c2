import { readFile } from 'node:fs/promises'
import type { Element, Nodes, Root } from 'hast'
import { hastText, nodesOf } from '../../../markdown/nodes.ts'
import type { Extractor } from '../../extracted.ts'
import { decodeHtml } from '../decode-text.ts'
import { extractPlainText } from '../plain-text-file.ts'
import { cleanHast, isUnseen } from './clean-hast.ts'
import { collapse, findElement, isElement, parseHtml } from './hast.ts'
import { hastToMarkdown } from './html-to-markdown.ts'
import { isContents, revealContents } from './reveal-contents.ts'

/** Elements that may be a menu. */
const blocks = new Set(['div', 'ul', 'ol', 'section', 'header', 'table', 'td', 'p', 'center'])
/** Minimum share of links in the text of a menu. */
const menuPart = 0.8
/** Average letters of a link above which a block of links is content, not a menu. */
const longestName = 30
const fewestLinks = 3
/** Maximum depth of elements that are examined as menus, since the text is measured at each level. */
const maxDepth = 40
/** Minimum share of a page's text that must stay. If its menus are more than the rest, they are its content. */
const leastKept = 0.6

/** Elements that do not end a word. */
const inline = new Set('b strong i em u s del ins mark span font small code wbr'.split(' '))

/**
 * Reads a page: all but menus, forms and the like. Elements, roles and links decide what these are, never the names of classes, which
 * mean something else to each program that writes pages.
 */
export const extractHtml: Extractor = async (input, onProgress) => {
  const { text: html, doubts } = decodeHtml(await readFile(input.file))
  if (!/<[a-z!]/i.test(html)) return extractPlainText(input, onProgress)
  const tree = parseHtml(html)
  const shown = visibleWords(findElement(tree, 'body') ?? tree)
  const title = titleOf(tree)
  const isContent = ![...nodesOf(tree)].some((node) => node.type === 'element' && isContents(node))
  const markdown = hastToMarkdown(cleanHast(withoutMenus(revealContents(tree, { isContent }))))
  return { title, markdown, anchors: [], warnings: [], doubts, shown }
}

function titleOf(tree: Root): string | undefined {
  for (const name of ['title', 'h1']) {
    const element = findElement(tree, name)
    const title = element && collapse(hastText(element))
    if (title) return title
  }
  return undefined
}

/** Returns the visible text of a page or a message, without links and controls, of which any number may be dropped. */
export function visibleWords(tree: Nodes): string {
  const parts: string[] = []
  const open: Nodes[] = [tree]
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'text') parts.push(node.value)
    else if (node.type === 'root') open.push(...node.children.toReversed())
    else if (node.type === 'element' && node.tagName !== 'a' && !isUnseen(node)) {
      const ends = inline.has(node.tagName) ? [] : [{ type: 'text' as const, value: ' ' }]
      open.push(...ends, ...node.children.toReversed(), ...ends)
    }
  }
  return parts.join('')
}

/**
 * Removes, in place, blocks of short links. The main content as declared by the page keeps its links. A page that would lose most of its
 * text keeps all of it.
 */
function withoutMenus(tree: Root): Root {
  const body: Root | Element = findElement(tree, 'body') ?? tree
  const found: { menu: Element; parent: Root | Element }[] = []
  const open = [{ parent: body, isInContents: false, depth: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { parent } = next
    const isInContents = next.isInContents || (parent.type === 'element' && isContents(parent))
    for (const child of parent.children) {
      if (child.type !== 'element') continue
      if (blocks.has(child.tagName) && isMenu(child, isInContents)) found.push({ menu: child, parent })
      else if (next.depth < maxDepth) open.push({ parent: child, isInContents, depth: next.depth + 1 })
    }
  }
  const lost = found.reduce((sum, { menu }) => sum + sizeOf(menu), 0)
  if (lost > (1 - leastKept) * sizeOf(body)) return tree
  for (const { menu, parent } of found) parent.children.splice(parent.children.indexOf(menu), 1)
  return tree
}

/** True if an element is a menu. Within the main content, only a choice of languages counts as one. */
function isMenu(element: Element, isInContents: boolean): boolean {
  const links = [...nodesOf(element)].filter((node) => isElement(node, 'a'))
  if (isInContents && !links.every(({ properties }) => properties.hrefLang)) return false
  const linked = links.reduce((sum, link) => sum + sizeOf(link), 0)
  const isShort = linked < longestName * links.length
  return links.length >= fewestLinks && isShort && linked > menuPart * sizeOf(element)
}

/** Returns the number of letters and digits. Separators between links count as neither links nor text. */
function sizeOf(node: Nodes): number {
  return hastText(node).match(/[\p{L}\p{N}]/gu)?.length ?? 0
}

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
/** Part of the text of a block that is links, from which on the block is a menu. */
const menuPart = 0.8
/** Letters of a link on average, from which on the links of a block say more than where they lead. */
const longestName = 30
const fewestLinks = 3
/** Levels of elements in which menus are looked for, which bounds how often a text is measured. */
const maxDepth = 40
/** Part of a page's text that must stay: if its menus are more than the rest, they are what the page is about. */
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

/** Returns the text that a page or a message shows, but for links and controls. Of these a page may leave out any number. */
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
 * Removes from a page, in place, the blocks outside of its contents that are nothing but short links. What a page marks as its
 * contents keeps its links, and a page that would lose most of its text keeps all.
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

/** Within the content, only the choice of a language counts as a menu. */
function isMenu(element: Element, isInContents: boolean): boolean {
  const links = [...nodesOf(element)].filter((node) => isElement(node, 'a'))
  if (isInContents && !links.every(({ properties }) => properties.hrefLang)) return false
  const linked = links.reduce((sum, link) => sum + sizeOf(link), 0)
  const isShort = linked < longestName * links.length
  return links.length >= fewestLinks && isShort && linked > menuPart * sizeOf(element)
}

/** Returns the number of letters and digits: signs between links belong to no side. */
function sizeOf(node: Nodes): number {
  return hastText(node).match(/[\p{L}\p{N}]/gu)?.length ?? 0
}

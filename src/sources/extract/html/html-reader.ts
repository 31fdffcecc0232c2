import { readFile } from 'node:fs/promises'
import type { Nodes, Root } from 'hast'
import type { Extractor } from '../../extracted.ts'
import { decodeHtml } from '../encoding/read-text.ts'
import { extractPlainText } from '../plain-text-file.ts'
import { cleanHast, isUnseen } from './clean-hast.ts'
import { collapse, findElement, hastText, nodesOf, parseHtml } from './hast.ts'
import { hastToMarkdown } from './html-to-markdown.ts'
import { withoutMenus } from './menus.ts'
import { isContents, revealContents } from './reveal-contents.ts'

/** Elements that do not end a word. */
const inline = new Set([
  'b',
  'strong',
  'i',
  'em',
  'u',
  's',
  'del',
  'ins',
  'mark',
  'span',
  'font',
  'small',
  'code',
  'wbr',
])

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

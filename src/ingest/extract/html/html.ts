import { readFile } from 'node:fs/promises'
import { Readability } from '@mozilla/readability'
import type { Root } from 'hast'
import { parseHTML } from 'linkedom'
import type { Extractor } from '../../extracted.ts'
import { decodeDocument } from '../encoding/read-text.ts'
import { extractPlainText } from '../text/plain-text.ts'
import { cleanHast } from './clean-hast.ts'
import { collapse, findElement, nodesOf, parseHtml, textOf } from './hast.ts'
import { hastToMarkdown } from './html-to-markdown.ts'

/** Of the words that a cleaned page has, what its main content must have to stand for it. */
const minKept = 0.6
const declaration = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]{1,40})/i
const declarationBytes = 4096

/** A page: its main content where that is most of it, else all but menus, forms and the like. */
export const extractHtml: Extractor = async (input, onProgress) => {
  const bytes = await readFile(input.file)
  const declared = declaration.exec(bytes.toString('latin1', 0, declarationBytes))?.[1]
  const { text: html, doubts } = decodeDocument(bytes, declared)
  if (!/<[a-z!]/i.test(html)) return extractPlainText(input, onProgress)
  const tree = parseHtml(html)
  const title = titleOf(tree)
  const page = cleanHast(tree)
  return { title, markdown: hastToMarkdown(mainContent(html, page) ?? page), anchors: [], warnings: [], doubts }
}

function titleOf(tree: Root): string | undefined {
  for (const name of ['title', 'h1']) {
    const element = findElement(tree, name)
    const title = element && collapse(textOf(element))
    if (title) return title
  }
  return undefined
}

function mainContent(html: string, page: Root): Root | undefined {
  const { document } = parseHTML(html)
  const content = new Readability(document).parse()?.content
  if (!content) return undefined
  const main = cleanHast(parseHtml(content))
  return countWords(main) >= minKept * countWords(page) ? main : undefined
}

function countWords(tree: Root): number {
  let count = 0
  for (const node of nodesOf(tree)) if (node.type === 'text') count += node.value.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
  return count
}

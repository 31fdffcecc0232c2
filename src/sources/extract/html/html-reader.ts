import { readFile } from 'node:fs/promises'
import { Readability } from '@mozilla/readability'
import type { Element, Nodes, Root } from 'hast'
import { parseHTML } from 'linkedom'
import rehypeStringify from 'rehype-stringify'
import { unified } from 'unified'
import type { Extractor } from '../../extracted.ts'
import { decodeDocument } from '../encoding/read-text.ts'
import { extractPlainText } from '../plain-text-file.ts'
import { cleanHast } from './clean-hast.ts'
import { collapse, findElement, hastText, nodesOf, parseHtml } from './hast.ts'
import { hastToMarkdown } from './html-to-markdown.ts'
import { revealContents } from './reveal-contents.ts'

/** Of the words that a cleaned page has, what its main content must have to stand for it. */
const minKept = 0.6
const toHtml = unified().use(rehypeStringify).freeze()
/** A paragraph of many links is prose, too, also where it stands in a block of its own. The package's types lack the second. */
const reading = { debug: false, linkDensityModifier: 0.2 }
/** Of the words of the page as it came, what its text must have not to be told about. */
const leastKept = 0.5
const fewWords = 50
const unseen = new Set(['script', 'style', 'template', 'noscript', 'svg', 'option'])
const declaration = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]{1,40})/i
const declarationBytes = 4096

/** A page: its main content where that is most of it, else all but menus, forms and the like. */
export const extractHtml: Extractor = async (input, onProgress) => {
  const bytes = await readFile(input.file)
  const declared = declaration.exec(bytes.toString('latin1', 0, declarationBytes))?.[1]
  const { text: html, doubts } = decodeDocument(bytes, declared)
  if (!/<[a-z!]/i.test(html)) return extractPlainText(input, onProgress)
  const tree = revealContents(parseHtml(html))
  const plain = toHtml.stringify(tree)
  const title = titleOf(tree)
  const all = countWords(findElement(tree, 'body') ?? tree)
  const page = cleanHast(tree)
  const text = mainContent(plain, tree, page) ?? page
  const kept = countWords(text)
  const isLittle = all > fewWords && kept < leastKept * all
  const told = `Of the ${all} words of the page, ${kept} were taken for its text, the others for menus, forms and the like.`
  return { title, markdown: hastToMarkdown(text), anchors: [], warnings: isLittle ? [told] : [], doubts }
}

function titleOf(tree: Root): string | undefined {
  for (const name of ['title', 'h1']) {
    const element = findElement(tree, name)
    const title = element && collapse(hastText(element))
    if (title) return title
  }
  return undefined
}

function mainContent(html: string, tree: Root, page: Root): Root | undefined {
  const enough = minKept * countWords(page)
  const { document } = parseHTML(html)
  const content = document.documentElement && new Readability(document, reading).parse()?.content
  const found = content ? cleanHast(parseHtml(content)) : undefined
  if (found && countWords(found) >= enough) return found
  const marked = markedMain(tree)
  const main = marked && cleanHast({ type: 'root', children: [marked] })
  return main && countWords(main) >= enough ? main : undefined
}

/** The one element that the page says is its main content. */
function markedMain(tree: Root): Element | undefined {
  const elements = [...nodesOf(tree)].filter((node) => node.type === 'element')
  const mains = elements.filter(({ tagName, properties }) => tagName === 'main' || properties.role === 'main')
  const [one, ...others] = mains.length > 0 ? mains : elements.filter(({ tagName }) => tagName === 'article')
  return others.length === 0 ? one : undefined
}

function countWords(tree: Root | Element): number {
  let count = 0
  const open: Nodes[] = [tree]
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'text') count += node.value.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
    else if ('children' in node && !(node.type === 'element' && unseen.has(node.tagName))) open.push(...node.children)
  }
  return count
}

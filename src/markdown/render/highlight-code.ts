import type { Element, Root } from 'hast'
import { refractor } from 'refractor'
import { elementsOf, textOf } from './elements.ts'

/** Maximum characters of code that are highlighted, in a block and in a page. */
const maxBlock = 20_000
const maxPage = 100_000

/** Highlights code whose fence names a language. Grammars are patterns that may be slow, which is why the amount is limited. */
export function highlightCode(root: Root): void {
  let left = maxPage
  for (const { element: pre } of elementsOf(root)) {
    const [code] = pre.tagName === 'pre' ? pre.children : []
    if (code?.type !== 'element' || code.tagName !== 'code') continue
    const language = languageOf(code)
    const source = textOf(code)
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

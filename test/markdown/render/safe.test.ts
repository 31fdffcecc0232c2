import type { Element, Nodes } from 'hast'
import rehypeParse from 'rehype-parse'
import rehypeStringify from 'rehype-stringify'
import { unified } from 'unified'
import { expect, test } from 'vitest'
import { linkTableKey, type ResolvedLink } from '../../../src/markdown/render/mark-links.ts'
import { renderBlocks } from '../../../src/markdown/render/render-markdown.ts'
import { fc, runs } from '../../support/properties.ts'
import { hostileMarkdown } from './hostile-html.ts'

const hostile = `"'><img src=x onerror=alert(1)>&`
const links = new Map<string, ResolvedLink>(
  Object.entries({
    a: { to: 'page', href: '/kb/k/neurons/k_00000001', title: hostile },
    'pic.png': { to: 'file', href: '/kb/k/files/pic.png', isImage: true },
    hole: { to: 'gap', why: hostile, createHref: '/kb/k/new?title=hole' },
  } as const).map(([target, meaning]) => [linkTableKey({ target }), meaning]),
)

const parser = unified().use(rehypeParse, { fragment: true }).freeze()
const stringifier = unified().use(rehypeStringify).freeze()

const never =
  /^(?:script|style|base|meta|link|iframe|object|embed|form|button|svg|math|video|audio|source|template|textarea|select|noscript|plaintext|title|frame)$/
const attributes = new Set(
  `href src alt title id className dir lang rel download loading width ariaLabel ariaDescribedBy role tabIndex type checked
  disabled open start reversed value align colSpan rowSpan scope dataFootnotes dataFootnoteRef dataFootnoteBackref`.split(
    /\s+/,
  ),
)
const ownClasses =
  /^(?:gap|unseen|outside|file|callout(?:-[a-z]+)?|table-scroll|footnotes|contains-task-list|task-list-item|language-.*)$/

function* elementsIn(node: Nodes): Generator<Element> {
  if (node.type === 'element') yield node
  if ('children' in node) for (const child of node.children) yield* elementsIn(child)
}

function problemsOf(html: string, idPrefix: string): string[] {
  const ids = new Set<string>()
  const problems: string[] = []
  for (const { tagName, properties } of elementsIn(parser.parse(html))) {
    if (never.test(tagName)) problems.push(`<${tagName}>`)
    for (const [name, value] of Object.entries(properties)) {
      if (!attributes.has(name)) problems.push(`${tagName}[${name}]`)
      if (name === 'id' && (ids.has(String(value)) || !String(value).startsWith(idPrefix))) problems.push(`#${value}`)
      if (name === 'id') ids.add(String(value))
      if (name === 'href' && !/^(?:#|https?:\/\/|mailto:|\/kb\/k\/(?:neurons|files|new))/.test(String(value)))
        problems.push(`href=${value}`)
      if (name === 'src' && value !== '/kb/k/files/pic.png') problems.push(`src=${value}`)
      if (
        name === 'className' &&
        Array.isArray(value) &&
        !value.includes('token') &&
        !value.every((one) => ownClasses.test(String(one)))
      )
        problems.push(`class=${value}`)
    }
  }
  return problems
}

test('no Markdown makes scripts, handlers, styles, frames, ids of the frame, or requests to other places', () => {
  fc.assert(
    fc.property(hostileMarkdown, (content) => {
      const html = renderBlocks({ content, links }).blocks.join('\n')
      expect(problemsOf(html, 'md-')).toEqual([])
    }),
    { numRuns: runs(1500) },
  )
})

test('a browser reads what is rendered as it was meant: reading it again changes nothing', () => {
  fc.assert(
    fc.property(hostileMarkdown, (content) => {
      const html = renderBlocks({ content, links }).blocks.join('\n')
      const again = stringifier.stringify(parser.parse(html))
      expect(problemsOf(again, 'md-')).toEqual([])
      expect(stringifier.stringify(parser.parse(again))).toBe(again)
    }),
    { numRuns: runs(500) },
  )
})

test('with another prefix all ids have it; without one there are none', () => {
  fc.assert(
    fc.property(hostileMarkdown, (content) => {
      const html = renderBlocks({ content, links, idPrefix: 'before-' }).blocks.join('\n')
      expect(problemsOf(html, 'before-')).toEqual([])
      const bare = renderBlocks({ content, links, idPrefix: null }).blocks.join('\n')
      expect([...elementsIn(parser.parse(bare))].filter(({ properties }) => 'id' in properties)).toEqual([])
    }),
    { numRuns: 300 },
  )
})

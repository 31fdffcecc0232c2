import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import { unified } from 'unified'
import { expect, test } from 'vitest'
import { literal, literalBlock } from '../../../src/rules/text/literal.ts'
import { fc } from '../../support/properties.ts'

type Node = { type: string; value?: string; children?: Node[] }

/** Returns every node that a forge makes of the Markdown. */
function read(markdown: string): Node[] {
  const nodes: Node[] = []
  const visit = (node: Node) => {
    nodes.push(node)
    for (const child of node.children ?? []) visit(child)
  }
  visit(unified().use(remarkParse).use(remarkGfm).parse(markdown))
  return nodes
}

test('any text is inert in a code span and a code block, and reads back', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('`', ' ', 'a', '\n', '~', '*', '<b>', '\\') }), (text) => {
      const span = read(`x ${literal(text)} y`).map(({ type }) => type)
      expect(span.filter((type) => type !== 'emphasis' && type !== 'inlineCode')).toEqual(
        span.includes('inlineCode')
          ? ['root', 'paragraph', 'text', 'text']
          : ['root', 'paragraph', 'text', 'text', 'text'],
      )
      const block = read(`${literalBlock(text, 'diff')}\n\nend`)
      expect(block.map(({ type }) => type)).toEqual(['root', 'code', 'paragraph', 'text'])
      expect(`${block[1]?.value}\n`).toBe(text.endsWith('\n') ? text : `${text}\n`)
    }),
  )
})

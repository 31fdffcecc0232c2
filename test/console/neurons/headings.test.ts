import { parseHTML } from 'linkedom'
import { expect, test } from 'vitest'
import { headingList } from '../../../src/console/neurons/neuron-page.ts'
import { renderBlocks } from '../../../src/markdown/render/render-markdown.ts'

const listOf = (markdown: string) => {
  const { blocks } = renderBlocks({ content: markdown, links: new Map() })
  const { document } = parseHTML(`<main>${headingList({ blocks })}${blocks.join('')}</main>`)
  const links = [...document.querySelectorAll('nav a')]
  return {
    shown: links.map((link) => [link.parentElement?.className, link.textContent]),
    /** Elements that the links lead to. */
    reached: links.map((link) => {
      const id = decodeURIComponent(link.getAttribute('href')?.slice(1) ?? '')
      return document.getElementById(id)?.textContent
    }),
    markup: document.querySelector('nav')?.innerHTML ?? '',
  }
}

test('a page with several headings lists them, and each link leads to its heading', () => {
  const { shown, reached } = listOf('# One\n\nText.\n\n## Two & *three*\n\n# `Four`\n\n# One\n\n> # In a quote\n')
  expect(shown).toEqual([
    ['level-2', 'One'],
    ['level-3', 'Two & three'],
    ['level-2', 'Four'],
    ['level-2', 'One'],
  ])
  expect(reached).toEqual(['One', 'Two & three', 'Four', 'One'])
})

test('a short page has no list', () => {
  expect(listOf('# One\n\n# Two\n\n# Three\n').shown).toEqual([])
})

test('hostile headings stay text', () => {
  const hostile =
    '<script>alert(1)</script> <img src=x onerror=alert(2)> [x](javascript:alert(3)) <b title="a>b">c</b> "\'>'
  const { shown, markup } = listOf(['a', 'b', 'c', 'd'].map((name) => `# ${name} ${hostile}\n\ntext\n`).join('\n'))
  expect(shown).toHaveLength(4)
  const { document } = parseHTML(`<div>${markup}</div>`)
  const names = new Set([...document.querySelectorAll('*')].map(({ tagName }) => tagName))
  expect([...names].sort()).toEqual(['A', 'DETAILS', 'DIV', 'LI', 'SUMMARY', 'UL'])
  expect(markup).not.toMatch(/ on\w+=|javascript:/)
})

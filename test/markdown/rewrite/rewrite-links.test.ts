import { afterAll, describe, expect, test } from 'vitest'
import { linkPlaces } from '../../../src/markdown/links/links.ts'
import { ParserPool } from '../../../src/markdown/pool/parser-pool.ts'
import {
  isWritableTarget,
  type NewTarget,
  type Retarget,
  rewriteLinks,
} from '../../../src/markdown/rewrite/rewrite-links.ts'
import { fc, runs } from '../../support/properties.ts'
import { extractLinks } from '../extract-parts.ts'
import { markdown } from '../markdown-arbitrary.ts'

const parser = new ParserPool()
afterAll(() => parser.close())

const renaming =
  (to: NewTarget, from = 'Old'): Retarget =>
  ({ target, kb }) =>
    kb === null && target === from ? to : undefined

const rename = (text: string, to: NewTarget = { target: 'New name' }) => rewriteLinks(parser, text, renaming(to))
const bySeqId = { target: 'handbook_00000042', alias: 'New [name]' }

test('an address in HTML is rewritten between its quotes', async () => {
  const quote =
    '> - <p>\n>   <a title="a.md > b"\n>   href=\'a.md#h\'>x</a>\n>   <img src=a.md></p>\n>\n>   y <a\n>   href="a.md?b">'
  for (const text of [quote, quote.replaceAll(/^> [- ] /gm, ''), quote.replaceAll('\n', '\r\n')]) {
    expect(
      await rewriteLinks(parser, text, ({ target }) => (target === 'a.md' ? { target: "../b's.md" } : undefined)),
    ).toBe(
      text
        .replace("'a.md#h'", "'../b%27s.md#h'")
        .replace('src=a.md', 'src=../b%27s.md')
        .replace('a.md?b', '../b%27s.md?b'),
    )
  }
})

describe('only the target changes', () => {
  test.each([
    ['[[Old]]', '[[New name]]'],
    ['[[Old|alias]] and [[Old|Old]]', '[[New name|alias]] and [[New name|Old]]'],
    ['[[Old#Heading]] [[Old#Old]] [[Old#]]', '[[New name#Heading]] [[New name#Old]] [[Old#]]'],
    ['[[contradicts:Old]] [[ contradicts: Old ]]', '[[contradicts:New name]] [[ contradicts: New name ]]'],
    ['![[Old]] ![[Old|300]]', '![[New name]] ![[New name|300]]'],
    ['[[ Old  | a ]]\t[[\tOld]]', '[[ New name  | a ]]\t[[\tNew name]]'],
    ['| a |\r\n| - |\r\n| [[Old\\|alias]] |\r\n', '| a |\r\n| - |\r\n| [[New name\\|alias]] |\r\n'],
    ['> - *x* [[Old]]\r\n>   **[[Old]]**', '> - *x* [[New name]]\r\n>   **[[New name]]**'],
    ['\uFEFF[[Old]]', '\uFEFF[[New name]]'],
    ['---\ntitle: x\n---\n\uFEFF[[Old]]', '---\ntitle: x\n---\n\uFEFF[[New name]]'],
    ['---\r\ntitle: x # Old\r\n---\r\n[[Old]]', '---\r\ntitle: x # Old\r\n---\r\n[[New name]]'],
    ['# [[Old]]\n\n[^1]\n\n[^1]: [[Old]]\n\n\n', '# [[New name]]\n\n[^1]\n\n[^1]: [[New name]]\n\n\n'],
    ['🧠 [[Old]] 漢字 [[Old]]', '🧠 [[New name]] 漢字 [[New name]]'],
  ])('%j becomes %j', async (text, expected) => {
    expect(await rename(text)).toBe(expected)
  })

  test.each([
    '`[[Old]]` and ``` [[Old]] ```',
    '```\n[[Old]]\n```\n\n    [[Old]]\n',
    '<!-- [[Old]] -->\n\n<b title="[[Old]]">x</b>',
    '\\[[Old]]',
    '[Old](old.md) Old [[Older]] [[old]] [[#Old]]',
    '[[kb:other/Old]]',
    '---\ntitle: "[[Old]]"\nnote: "[[Old]]"\naliases: [Old]\n---\nText\n',
    '',
  ])('%j stays', async (text) => {
    expect(await rename(text)).toBe(text)
  })

  test('a link that names its knowledge base is rewritten where that is asked for', async () => {
    const text = '[[kb:handbook/Old]] [[part-of:kb:handbook/Old#H|a]] [[kb:handbooks/Old]]'
    expect(await rewriteLinks(parser, text, ({ kb }) => (kb === 'handbook' ? { target: 'New' } : undefined))).toBe(
      '[[kb:handbook/New]] [[part-of:kb:handbook/New#H|a]] [[kb:handbooks/Old]]',
    )
  })
})

describe('a link without an alias gets one, where the new target is no name', () => {
  test.each([
    ['[[Old]] ![[Old]]', '[[handbook_00000042|Name]] ![[handbook_00000042|Name]]'],
    ['[[Old#Part]] [[cites:Old]]', '[[handbook_00000042#Part|Name]] [[cites:handbook_00000042|Name]]'],
    ['[[Old|kept]]', '[[handbook_00000042|kept]]'],
    ['| a |\n| - |\n| [[Old]] |', '| a |\n| - |\n| [[handbook_00000042\\|Name]] |'],
  ])('%j becomes %j', async (text, expected) => {
    expect(await rename(text, { target: 'handbook_00000042', alias: 'Name' })).toBe(expected)
  })

  test.each(['New [name]', 'a|b', 'two\nlines', 'x\\', ' '])('an alias %j that no link can hold', async (alias) => {
    expect(await rename('[[Old]]', { ...bySeqId, alias })).toBe('[[handbook_00000042|Old]]')
  })
})

describe('edges', () => {
  test('are rewritten, and other items and keys stay', async () => {
    const text = [
      '---',
      '# A comment',
      'title: "Old"',
      'edges:',
      '  - { type: supersedes, target: Old }',
      '  - { type: nonsense, target: Old }',
      '  - { type: cites, target: Other, why: "because" }',
      'more: [Old]',
      '---',
      'Text',
    ]
    const expected = text.map((line) => line.replace('supersedes, target: Old', 'supersedes, target: New name'))
    expect(await rename(text.join('\n'))).toBe(expected.join('\n').replace('"because"', 'because'))
  })

  test('take any name, or the seqId without its alias', async () => {
    const text = '---\nedges:\n  - { type: is-a, target: Old }\n---\n'
    expect(await rename(text, bySeqId)).toBe('---\nedges:\n  - { type: is-a, target: handbook_00000042 }\n---\n')
  })
})

describe('a page that cannot be rewritten safely is left', () => {
  test.each([
    ['the new target makes a link of what surrounds it', '[t]([[Old]])', 'x y', { target: 'b' }],
    ['the new target closes code', 'a ` b [[Old]]', 'Old', { target: 'New ` name' }],
    ['it was not UTF-8', 'a \uFFFD [[Old]]', 'Old', { target: 'New' }],
    ['the parser reads its target otherwise', 'x [[a\0b]]', 'a\uFFFDb', { target: 'New' }],
    ['it would grow too large', `[[Old]]${'x'.repeat(1024 * 1024 - 10)}`, 'Old', { target: 'New name' }],
    [
      'the front matter would',
      `---\nedges: [{ type: cites, target: Old }]\nx: ${'y'.repeat(16_338)}\n---\n`,
      'Old',
      { target: 'New name' },
    ],
  ])('%s', async (_, text, from, to) => {
    const named = text.replace('[[Old]]', `[[${from}]]`)
    const rewritten = await rewriteLinks(parser, named, renaming(to, from))
    expect(rewritten).toBeUndefined()
  })

  test('hostile text beside a link does not keep it from being rewritten', async () => {
    const hostile = `\n\n${'[a]('.repeat(60_000)}`
    const rewritten = await rename(`[[Old]]${hostile}`)
    expect(rewritten === `[[New name]]${hostile}`).toBe(true)
  })

  test('it takes too long to parse', async () => {
    const hostile = `${'> '.repeat(20_000)}[[Old]]`
    expect((await parser.links(hostile)).links).toHaveLength(1)
    const rewritten = await rename(hostile)
    expect(rewritten === undefined).toBe(true)
  })
})

test.each(['a]b', 'a[b', 'a|b', 'C#', 'a\nb', 'cites: x', 'kb:handbook/x', '', ' a', 'a\\'])(
  '%j can be no target',
  (name) => {
    expect(isWritableTarget(name)).toBe(false)
  },
)

test.each(['VIP policy', 'note: a thing', 'Ünïcode & <b> `x`', 'a/b.md', "it's (new)"])(
  '%j can be a target',
  (name) => {
    expect(isWritableTarget(name)).toBe(true)
  },
)

test('whatever the Markdown, targets stand where the parser finds them', () => {
  fc.assert(
    fc.property(markdown, (content) => {
      fc.pre(!content.includes('\0'))
      const places = linkPlaces(content) ?? []
      expect(places.map(({ link }) => link)).toEqual(extractLinks(content))
      for (const { link, start, end, alias } of places) {
        expect(content.slice(start, end)).toBe(link.target)
        if (alias !== undefined) expect(content.slice(alias.at, alias.at + 2)).toBe(']]')
      }
    }),
    { numRuns: runs(2000) },
  )
})

test('whatever the Markdown, exactly the wanted links change', async () => {
  const name = fc.constantFrom('New', 'x`y', 'n*n', '<b>', 'a)', 'handbook_00000042', '![', 'x y')
  await fc.assert(
    fc.asyncProperty(markdown, name, fc.boolean(), async (content, target, withAlias) => {
      const to = { target, ...(withAlias ? { alias: 'Shown' } : {}) }
      const rewritten = await rewriteLinks(parser, content, renaming(to, 'a'))
      if (rewritten === undefined) return
      const { links } = await parser.links(content)
      const aliasOf = (alias: string | undefined) => alias ?? to.alias
      const expected = links.map((link) => {
        if (link.target !== 'a' || link.kb !== undefined) return link
        if (link.form === 'markdown') return { ...link, target }
        const alias = aliasOf(link.alias)
        return { ...link, target, ...(alias === undefined ? {} : { alias }) }
      })
      expect((await parser.links(rewritten)).links).toEqual(expected)
    }),
    { numRuns: runs(500) },
  )
})

import { expect, test } from 'vitest'
import { neuronTitle, openingHeading } from '../../src/markdown/neuron-title.ts'
import { fc } from '../support/properties.ts'

test.each([
  ['# Title', 'Title'],
  ['\n \n# Title #\nText', 'Title'],
  ['Title\n=====', 'Title'],
  ['Two\nlines\r\n===\r\n', 'Two lines'],
  ['# **Bold**, `code`, [a link](x) and [[Target|alias]]', 'Bold, code, a link and alias'],
  ['# C# and F#', 'C# and F#'],
  ['# Setup {#setup .big} #', 'Setup'],
  ['Setup {: #setup}\n===', 'Setup'],
  ['# &amp; \\# x', '& # x'],
  ['<!-- hidden -->\n# Title', 'Title'],
  ['<!--\n# hidden\n--> \n\n# Title', 'Title'],
  ['# Pigeons %%layoffs in May%%', 'Pigeons'],
  ['%% hidden %%\n# Title', 'Title'],
  ['%%\n# hidden\n%%\n# Title', 'Title'],
  ['# `50 %%` of a %%b%% c', '50 %% of a  c'],
  [`# ${'x'.repeat(600)}`, 'x'.repeat(500)],
])('the heading that opens %j', (content, title) => {
  expect(openingHeading(content)).toBe(title)
})

test.each([
  [''],
  ['Text.'],
  ['Text.\n\n# Later'],
  ['Text\n# Later'],
  ['## Second level'],
  ['Second level\n---'],
  ['#hashtag'],
  ['#\n# Later'],
  ['# ![only an image](x.png)'],
  ['```\n# code\n```\n# Later'],
  ['    # code'],
  ['> # quoted'],
  ['- item\n==='],
  ['<!-- never closed\n# Title'],
  ['%% never closed\n# Title'],
  ['%%block\n===\n%%\nText.'],
  ['# %%all of it%%'],
  ['<!-- a --> b\n# Later'],
  [`${'\n'.repeat(20_000)}# Late`],
])('no heading opens %j', (content) => {
  expect(openingHeading(content)).toBeUndefined()
})

test('a Neuron is called by its front matter, else by its opening heading, else by its file', () => {
  const path = 'neurons/a/The name.v2.md'
  expect(neuronTitle({ fields: { title: 'Given' }, content: '# Heading' }, path)).toBe('Given')
  expect(neuronTitle({ fields: { title: ' ' }, content: '# Heading' }, path)).toBe('Heading')
  expect(neuronTitle({ fields: {}, content: 'Text.\n\n# Example' }, path)).toBe('The name.v2')
})

test('hostile text costs next to nothing', () => {
  const piece = fc.constantFrom(
    '# ',
    '[',
    '![',
    '](',
    '*a_',
    '`',
    '<a ',
    '> ',
    '- ',
    '#',
    '~~~',
    '\n',
    '---\n',
    '|',
    ' ',
  )
  const hostile = fc.tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1000, max: 20_000 }))
  fc.assert(
    fc.property(hostile, ([pieces, times]) => {
      const content = pieces.join('').repeat(times)
      // In more than linear time, many cases take more than the test has.
      expect(openingHeading(content)?.length ?? 0).toBeLessThanOrEqual(content.length)
    }),
  )
})

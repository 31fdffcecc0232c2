import { expect, test } from 'vitest'
import { quotableMarkdown } from '../../src/chat/extract/quotable-markdown.ts'
import { parseTestFile } from '../../src/markdown/file/test-file.ts'
import { inlineTags } from '../../src/markdown/inline-tags.ts'
import { certainLinks } from '../../src/markdown/links/links.ts'
import { mentionedIn } from '../../src/markdown/mentions.ts'
import { openingHeading } from '../../src/markdown/neuron-title.ts'
import { isTooComplex } from '../../src/markdown/parse/parse-cost.ts'
import { parseFullYaml } from '../../src/markdown/yaml/yaml.ts'
import { headingsOf } from '../../src/rules/links/headings.ts'
import { sourceBlocks } from '../../src/sources/compile/source-blocks.ts'

const size = 200_000
/** Ends a line for regular expressions, but not for Markdown. */
const separator = '\u2028'

const many = Array.from({ length: 2_000 }, (_, at) => ({ email: `person${at}@example.com`, name: `Person ${at}` }))
const unknown = Array.from({ length: 6_000 }, (_, at) => `  a${at}:\n`).join('')

// What takes more than linear time takes minutes here, or has no end.
test.each<[string, (text: string) => unknown, string, unknown]>([
  ['blanks of a title', openingHeading, `# ${' '.repeat(16_000)}${separator}`, undefined],
  ['blanks of a heading', headingsOf, `# ${' '.repeat(size)}${separator}`, []],
  ['tildes', headingsOf, `${'~'.repeat(size)}${separator}\n# a`, []],
  ['tildes of a long page', isTooComplex, '~'.repeat(size) + separator, true],
  ['blanks in what may be a table', isTooComplex, `a|b\n-|-:${'\t'.repeat(size)}:-`, false],
  ['footnotes', (text) => certainLinks(text)?.length, `[a](b.md) ${'[^ '.repeat(size / 3)}`, 1],
  ['slashes of a tag', inlineTags, `#a${'/'.repeat(size)}b`, []],
  [
    'blanks of a heading that is quoted',
    (text) => quotableMarkdown(text).length,
    `> # ${' '.repeat(size)}${separator}x`,
    size + 4,
  ],
  ['tildes of a document', (text) => sourceBlocks(text).length, '~'.repeat(size) + separator, 1],
  ['mentions', (text) => mentionedIn(text, many).size, '@person7 @a '.repeat(size / 12), 1],
  ['faults of YAML', (text) => parseFullYaml(text).problems.length, 'a:\n'.repeat(20_000), 19_999],
  ['unknown fields', (text) => parseTestFile(text).findings.length, `- question: x\n${unknown}`, 21],
])('lines of many %s take no time', (_, read, text, found) => {
  expect(read(text)).toEqual(found)
})

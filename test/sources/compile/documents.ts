import { type CompileInput, compileDocument } from '../../../src/sources/compile/compile-document.ts'
import type { CompiledPage } from '../../../src/sources/compile/compiled.ts'
import { fc } from '../../support/properties.ts'

/** Compiles Markdown as an upload of the name `handbook.md`, unless told otherwise. */
export function compile(
  markdown: string,
  {
    title,
    anchors,
    searchOnlyFrom,
    ...input
  }: Partial<Omit<CompileInput, 'extracted'> & CompileInput['extracted']> = {},
): Promise<CompiledPage[]> {
  const extracted = {
    title,
    markdown,
    ...(searchOnlyFrom !== undefined && { searchOnlyFrom }),
    anchors: anchors ?? [],
    warnings: [],
  }
  return compileDocument({ filename: 'handbook.md', tags: [], language: 'en', names: [], ...input, extracted })
}

/** A paragraph of about as many characters, told from others by its name. */
export function paragraph(name: string, size = 600): string {
  const sentence = `The ${name} desk answers every letter that a customer sends to it within two days. `
  return sentence.repeat(Math.ceil(size / sentence.length)).trim()
}

const words = fc.array(fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'epsilon', 'refunds', 'Berlin'), {
  minLength: 3,
  maxLength: 12,
})

/** Every line of a generated document is another one, so that it can be counted. */
type Piece = (line: () => string) => string

const pieces: fc.Arbitrary<Piece> = fc.oneof(
  fc.tuple(fc.integer({ min: 1, max: 4 }), words).map(
    ([depth, some]): Piece =>
      (line) =>
        `${'#'.repeat(depth)} ${some.slice(0, 3).join(' ')} ${line()}`,
  ),
  fc.tuple(words, fc.integer({ min: 1, max: 30 })).map(
    ([some, count]): Piece =>
      (line) =>
        Array.from({ length: count }, () => `${some.join(' ')} ${line()}`).join('\n'),
  ),
  fc.tuple(words, fc.integer({ min: 1, max: 200 })).map(
    ([some, count]): Piece =>
      (line) =>
        Array.from({ length: count }, () => `- ${some.join(' ')} ${line()}`).join('\n'),
  ),
  fc.integer({ min: 1, max: 900 }).map(
    (count): Piece =>
      (line) =>
        `| A ${line()} | B |\n| - | - |\n${Array.from({ length: count }, () => `| c ${line()} | d |`).join('\n')}`,
  ),
  fc.integer({ min: 1, max: 60 }).map(
    (count): Piece =>
      (line) =>
        `\`\`\`\n${Array.from({ length: count }, () => `# code ${line()}`).join('\n\n')}\n\`\`\``,
  ),
)

/** Documents of headings, prose, lists, tables and code, in which every line but those of fences and delimiters is unique. */
export const documents = fc.array(pieces, { maxLength: 60 }).map((parts) => {
  let count = 0
  const line = () => `line${++count}end`
  return parts.map((part) => part(line)).join('\n\n')
})

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeText } from '../../src/sources/extract/decode-text.ts'
import { families, successors } from '../../src/sources/extract/registry.ts'
import { ExtractionError } from '../../src/sources/extracted.ts'
import { type Agreement, compareTexts } from './compare.ts'
import { fileTypeOf, type Measured, measureDocument } from './measure-document.ts'
import { plainMarkdown } from './plain-markdown.ts'
import { type Extent, type OtherReading, type Reference, readOtherwise } from './reference.ts'

export type DocumentFigures = Measured & {
  /** Relative to its folder. */
  name: string
  type: string
  extent: Extent | undefined
  agreement: (Agreement & { origin: string }) | undefined
}

const rounds = 3
/** Lines of `document<TAB>reference`, both relative to the folder. */
const manifest = 'references.tsv'

/** All documents below a folder whose types are known, one after the other; references and manifests are none. */
export async function* measureFolder(folder: string): AsyncGenerator<DocumentFigures> {
  const references = namedReferences(folder)
  const named = new Set(references.values())
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  for (const name of names) {
    const type = fileTypeOf(name)
    if (named.has(name) || !(families.has(type) || successors.has(type))) continue
    const file = join(folder, name)
    const measured = await measureDocument(file, rounds)
    // Other readers have no limits that would end them.
    const other: OtherReading = measured.outcome instanceof ExtractionError ? {} : await readOtherwise(file, type)
    const ours = references.get(name)
    const reference = ours === undefined ? other.reference : givenReference(join(folder, ours))
    yield { ...measured, name, type, extent: other.extent, agreement: agreementOf(measured, reference) }
  }
}

function namedReferences(folder: string): Map<string, string> {
  const file = join(folder, manifest)
  if (!existsSync(file)) return new Map()
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return new Map(lines.map((line) => line.split('\t')).map(([document = '', reference = '']) => [document, reference]))
}

function givenReference(file: string): Reference {
  const text = decodeText(readFileSync(file)).text
  return { text: fileTypeOf(file) === 'md' ? plainMarkdown(text) : text, origin: 'given' }
}

function agreementOf({ outcome }: Measured, reference: OtherReading['reference']): DocumentFigures['agreement'] {
  if (outcome instanceof ExtractionError || reference === undefined) return undefined
  const { text, origin, isPartial } = reference
  const agreement = { ...compareTexts(plainMarkdown(outcome.markdown), text), origin }
  return isPartial ? { ...agreement, precision: Number.NaN, order: Number.NaN } : agreement
}

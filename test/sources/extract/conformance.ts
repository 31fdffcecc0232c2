import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Nodes } from 'mdast'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseMarkdown } from '../../../src/markdown/parse/parse-markdown.ts'
import { extractReply } from '../../../src/sources/extract/confined/reply.ts'
import { runExtractor } from '../../../src/sources/extract/confined/run-extractor.ts'
import { extractDocument } from '../../../src/sources/extract/extract.ts'
import { families } from '../../../src/sources/extract/registry.ts'
import {
  type Extracted,
  type ExtractInput,
  ExtractionError,
  type ExtractionProblem,
} from '../../../src/sources/extracted.ts'

type Bytes = Uint8Array | string

/** Documents that a family of formats is tested with; names describe them. */
export type ConformanceDocuments = {
  fileType: string
  readable: Record<string, { bytes: Bytes | Promise<Bytes>; title?: string; contains: string[] }>
  /** Documents that end with one of these problems. */
  refused: Record<string, { bytes: Bytes | Promise<Bytes>; problems: ExtractionProblem[] }>
}

/** Extracts bytes as a document of that type, in a process of its own and within the limits. */
export function extractConfined(fileType: string, bytes: Bytes): Promise<Extracted> {
  return withDocument(fileType, bytes, extractDocument)
}

/** Extracts like {@link extractConfined}, but in the process of the test, which is far quicker, where the format needs no native code. */
export function extractBytes(fileType: string, bytes: Bytes): Promise<Extracted> {
  if (families.get(fileType)?.addons) return extractConfined(fileType, bytes)
  return withDocument(fileType, bytes, async (input) => {
    const reply = extractReply.parse(JSON.parse(JSON.stringify(await runExtractor(input, () => {}))))
    if (!reply.ok) throw new ExtractionError(reply.problem, reply.message)
    return { ...reply.extracted, title: reply.extracted.title }
  })
}

async function withDocument(
  fileType: string,
  bytes: Bytes,
  extract: (input: ExtractInput) => Promise<Extracted>,
): Promise<Extracted> {
  const folder = await mkdtemp(join(tmpdir(), 'ganglion-extract-'))
  try {
    const file = join(folder, 'document')
    await writeFile(file, bytes)
    return await extract({ file, filename: `document.${fileType}`, fileType, transcriber: undefined })
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The problem that extracting ends with; `none` where there is a text. */
export async function problemOf(extracting: Promise<Extracted>): Promise<ExtractionProblem | 'none'> {
  return extracting.then(
    () => 'none' as const,
    (error: unknown) => {
      if (error instanceof ExtractionError) return error.problem
      throw error
    },
  )
}

/** The rules that every extractor keeps, whatever it reads. */
export function extractorConformance({ fileType, readable, refused }: ConformanceDocuments): void {
  describe(`extracting .${fileType} keeps the rules`, () => {
    for (const [name, { bytes, title, contains }] of Object.entries(readable)) {
      describe(name, () => {
        let extracted: Extracted
        beforeAll(async () => {
          extracted = await extractConfined(fileType, await bytes)
        })

        test('has its title and text, in order', () => {
          expect(extracted.title).toBe(title)
          const places = contains.map((text) => extracted.markdown.indexOf(text))
          expect(contains.filter((_, index) => (places[index] ?? -1) < 0)).toEqual([])
          expect(places).toEqual(places.toSorted((one, other) => one - other))
        })

        test('is safe Markdown with anchors inside', () => expectSafe(extracted))

        test('is the same each time', async () => {
          expect(await extractBytes(fileType, await bytes)).toEqual(extracted)
        })

        test('cut in the middle it has a text or a reason', async () => {
          const whole = Buffer.from(await bytes)
          const problem = await problemOf(extractBytes(fileType, whole.subarray(0, whole.length / 2)))
          expect(problem).not.toBe('crashed')
        })
      })
    }

    test('nothing is empty', async () => {
      expect(await problemOf(extractBytes(fileType, ''))).toMatch(/^(?:empty|corrupt|wrong-type)$/)
    })

    test('bytes of no format are refused', async () => {
      const noise = Buffer.from(Array.from({ length: 5000 }, (_, index) => ((index * index * 7919) % 251) & 0x9f))
      expect(await problemOf(extractBytes(fileType, noise))).toMatch(/^(?:corrupt|wrong-type)$/)
    })

    for (const [name, { bytes, problems }] of Object.entries(refused)) {
      test(`${name} is refused`, async () => {
        expect(problems).toContain(await problemOf(extractConfined(fileType, await bytes)))
      })
    }
  })
}

/** Holds an extracted text to its rules with a parser, not with the code that made it. */
export function expectSafe({ title, markdown, anchors }: Extracted): void {
  expect(title ?? '').not.toMatch(/\n/)
  expectSafeMarkdown(markdown)
  expect(markdown.trim()).not.toBe('')
  const lines = anchors.map(({ line }) => line)
  expect(lines).toEqual(lines.toSorted((one, other) => one - other))
  expect(lines.filter((line) => line < 1 || line > markdown.split('\n').length)).toEqual([])
}

/** No HTML, images, front matter, control characters, or links to elsewhere than http, https and mailto. */
export function expectSafeMarkdown(markdown: string): void {
  expect(markdown.isWellFormed()).toBe(true)
  expect(markdown).not.toMatch(/[^\P{Cc}\n\t]/u)
  expect(markdown).not.toMatch(/^\s*---/)
  expect(unsafeNodes(parseMarkdown(markdown))).toEqual([])
}

function unsafeNodes(node: Nodes): string[] {
  const isUnsafe =
    /^(?:html|image|imageReference)$/.test(node.type) || ('url' in node && !/^(?:https?:\/\/|mailto:)/i.test(node.url))
  const below = 'children' in node ? node.children.flatMap(unsafeNodes) : []
  return isUnsafe ? [JSON.stringify(node), ...below] : below
}

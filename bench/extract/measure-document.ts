import { extname } from 'node:path'
import { compileDocument } from '../../src/sources/compile/compile-document.ts'
import { extractDocument } from '../../src/sources/extract/extract.ts'
import { type Extracted, ExtractionError } from '../../src/sources/extracted.ts'
import { summary, type Timing } from '../support/measure.ts'
import { withChildMemory } from './child-memory.ts'

export type Measured = {
  /** Extracted text, or the reason why there is none. */
  outcome: Extracted | ExtractionError
  extract: Timing
  compile: Timing
  /** Bytes: the peak of the child, the largest of all rounds. */
  memory: number
  /** Number of compiled pages. */
  pages: number
}

/** A document that takes longer is read only once. */
const maxRepeated = 10_000

/** Reads and compiles a document as the server does, so many times after a warm-up. */
export async function measureDocument(file: string, rounds: number): Promise<Measured> {
  const first = await readOnce(file)
  const readings = first.extract < maxRepeated ? [] : [first]
  while (readings.length < rounds && first.extract < maxRepeated) readings.push(await readOnce(file))
  return {
    outcome: first.outcome,
    extract: summary(readings.map(({ extract }) => extract)),
    compile: summary(readings.map(({ compile }) => compile)),
    memory: Math.max(...readings.map(({ memory }) => memory)),
    pages: first.pages,
  }
}

export function fileTypeOf(file: string): string {
  return extname(file).slice(1).toLowerCase()
}

/** Milliseconds. */
type Reading = Omit<Measured, 'extract' | 'compile'> & { extract: number; compile: number }

async function readOnce(file: string): Promise<Reading> {
  const input = { file, filename: file, fileType: fileTypeOf(file), transcriber: undefined }
  const { result, peak } = await withChildMemory(() => timed(() => extractDocument(input).catch(asOutcome)))
  const { value: outcome, time: extract } = result
  if (outcome instanceof ExtractionError) return { outcome, extract, compile: 0, memory: peak, pages: 0 }
  const compilation = { extracted: outcome, filename: file, tags: [], language: 'en', names: [] }
  const { value: pages, time: compile } = await timed(() => compileDocument(compilation))
  return { outcome, extract, compile, memory: peak, pages: pages.length }
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; time: number }> {
  const begin = performance.now()
  const value = await work()
  return { value, time: performance.now() - begin }
}

function asOutcome(error: unknown): ExtractionError {
  if (error instanceof ExtractionError) return error
  throw error
}

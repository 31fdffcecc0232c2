import { extractReply } from '../../ingest/extract/reply.ts'
import type { Extracted } from '../../ingest/extracted.ts'
import { KeptJson } from './kept-json.ts'

/** Raised whenever documents are read otherwise: what was kept before counts for nothing. */
const version = 3

type Document = { contentHash: string; fileType: string }

/**
 * The text of documents that were read, as files named for their bytes. It is derived: what is missing or damaged is read from the
 * document again, and nothing is flushed to the disk.
 */
export class SourceTexts {
  readonly #files: KeptJson

  /** See {@link KeptJson}. */
  constructor(directory: string, incoming: string) {
    this.#files = new KeptJson(directory, incoming)
  }

  async find(document: Document): Promise<Extracted | undefined> {
    const { data } = extractReply.safeParse(await this.#files.find(nameOf(document)))
    if (data?.ok !== true) return undefined
    const { title, ...extracted } = data.extracted
    return { ...extracted, title }
  }

  async keep(document: Document, extracted: Extracted): Promise<void> {
    await this.#files.keep(nameOf(document), { ok: true, extracted }, { flush: false })
  }
}

function nameOf({ contentHash, fileType }: Document): string {
  return `${contentHash}-${fileType}-${version}.json`
}

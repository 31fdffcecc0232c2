import { extractReply } from '../../ingest/extract/reply.ts'
import type { Extracted } from '../../ingest/extracted.ts'
import { KeptJson } from './kept-json.ts'

/** Raised whenever documents are read otherwise: what was kept before counts for nothing. */
const version = 4

type Document = { id: string }

/**
 * The text of Sources that were read, as files. Each Source has its own, also where another has the same bytes: otherwise the
 * time of an ingest would tell that there is one. It is derived: what is missing or damaged is read from the document again, and
 * nothing is flushed to the disk.
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

function nameOf({ id }: Document): string {
  return `${id}-${version}.json`
}

import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { extractReply } from '../../ingest/extract/reply.ts'
import type { Extracted } from '../../ingest/extracted.ts'

/** Raised whenever documents are read otherwise: what was kept before counts for nothing. */
const version = 1

type Document = { contentHash: string; fileType: string }

/**
 * The text of documents that were read, as files named for their bytes. It is derived: what is missing or damaged is read from the
 * document again, and nothing is flushed to the disk.
 */
export class SourceTexts {
  readonly #directory: string
  readonly #incoming: string

  /** @param incoming on the same file system, for files that are not whole yet. */
  constructor(directory: string, incoming: string) {
    this.#directory = directory
    this.#incoming = incoming
  }

  async find(document: Document): Promise<Extracted | undefined> {
    const text = await readFile(this.#path(document), 'utf8').catch(() => undefined)
    const reply = text === undefined ? undefined : extractReply.safeParse(parseJson(text))
    if (reply?.data?.ok !== true) return undefined
    const { title, ...extracted } = reply.data.extracted
    return { ...extracted, title }
  }

  async keep(document: Document, extracted: Extracted): Promise<void> {
    const temporary = join(this.#incoming, randomUUID())
    try {
      await writeFile(temporary, JSON.stringify({ ok: true, extracted }))
      await rename(temporary, this.#path(document))
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  #path({ contentHash, fileType }: Document): string {
    return join(this.#directory, `${contentHash}-${fileType}-${version}.json`)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

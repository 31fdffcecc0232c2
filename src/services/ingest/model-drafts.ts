import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Drafts } from '../../ingest/compile/model-compiler.ts'
import { Draft } from '../../ingest/compile/model-draft.ts'

/** What language models made of documents, as files. They are flushed to the disk: asked again, a model may say something else. */
export class ModelDrafts implements Drafts {
  readonly #directory: string
  readonly #incoming: string

  /** @param incoming on the same file system, for files that are not whole yet. */
  constructor(directory: string, incoming: string) {
    this.#directory = directory
    this.#incoming = incoming
  }

  async find(key: string): Promise<Draft | undefined> {
    const text = await readFile(this.#path(key), 'utf8').catch(() => undefined)
    try {
      return text === undefined ? undefined : Draft.safeParse(JSON.parse(text)).data
    } catch {
      return undefined
    }
  }

  async keep(key: string, draft: Draft): Promise<void> {
    const temporary = join(this.#incoming, randomUUID())
    try {
      await writeFile(temporary, JSON.stringify(draft), { flush: true })
      await rename(temporary, this.#path(key))
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  #path(key: string): string {
    return join(this.#directory, `${key}-draft.json`)
  }
}

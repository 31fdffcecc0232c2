import type { Drafts } from '../../ingest/compile/model/model-compiler.ts'
import { Draft } from '../../ingest/compile/model/model-draft.ts'
import { KeptJson } from './kept-json.ts'

/** What language models made of documents, as files. They are flushed to the disk: asked again, a model may say something else. */
export class ModelDrafts implements Drafts {
  readonly #files: KeptJson

  /** See {@link KeptJson}. */
  constructor(directory: string, incoming: string) {
    this.#files = new KeptJson(directory, incoming)
  }

  async find(key: string): Promise<Draft | undefined> {
    return Draft.safeParse(await this.#files.find(nameOf(key))).data
  }

  async keep(key: string, draft: Draft): Promise<void> {
    await this.#files.keep(nameOf(key), draft, { flush: true })
  }
}

function nameOf(key: string): string {
  return `${key}-draft.json`
}

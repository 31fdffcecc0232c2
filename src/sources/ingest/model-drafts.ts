import { type Context, onePer } from '../../kb/context.ts'
import type { KeptJson } from '../../state/blobs/kept-json.ts'
import { Draft } from '../compile/model/model-draft.ts'
import type { Drafts } from '../compile/model-compiler.ts'

export const modelDrafts = onePer(({ texts }: Context) => new ModelDrafts(texts))

/**
 * Stores drafts that language models made of documents. They are flushed to the disk, because a model may answer differently the
 * next time.
 */
export class ModelDrafts implements Drafts {
  readonly #kept: KeptJson

  constructor(kept: KeptJson) {
    this.#kept = kept
  }

  async find(key: string): Promise<Draft | undefined> {
    return Draft.safeParse(await this.#kept.find(nameOf(key))).data
  }

  async keep(key: string, draft: Draft): Promise<void> {
    await this.#kept.keep(nameOf(key), draft, { flush: true })
  }
}

function nameOf(key: string): string {
  return `${key}-draft.json`
}

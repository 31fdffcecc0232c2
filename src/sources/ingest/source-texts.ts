import { LRUCache } from 'lru-cache'
import { type Context, onePer } from '../../kb/context.ts'
import type { KeptJson } from '../../state/blobs/kept-json.ts'
import { Draft } from '../compile/model/model-draft.ts'
import type { Drafts } from '../compile/model-compiler.ts'
import { extractReply } from '../extract/confined/reply.ts'
import type { Extracted } from '../extracted.ts'

/** Version of the extraction. Raise it whenever documents are read differently: texts of earlier versions are ignored. */
const version = 10

type Document = { id: string }

/** Maximum UTF-16 units of the texts in memory. */
const maxRecent = 8 * 2 ** 20

export const sourceTexts = onePer(({ texts }: Context) => new SourceTexts(texts))

/**
 * Extracted texts of Sources. Each Source has its own, even if another has the same bytes: the time of an ingest would reveal the other.
 * A text that is missing or damaged is extracted again, so nothing is flushed to the disk.
 */
export class SourceTexts {
  readonly #kept: KeptJson
  readonly #recent = new LRUCache<string, Extracted>({
    maxSize: maxRecent,
    sizeCalculation: ({ markdown }) => Math.max(1, markdown.length),
  })

  constructor(kept: KeptJson) {
    this.#kept = kept
  }

  async find(document: Document): Promise<Extracted | undefined> {
    const { data } = extractReply.safeParse(await this.#kept.find(nameOf(document)))
    if (data?.ok !== true) return undefined
    const { title, ...extracted } = data.extracted
    return { ...extracted, title }
  }

  has(document: Document): Promise<boolean> {
    return this.#kept.has(nameOf(document))
  }

  /**
   * Returns the text like {@link find}, and keeps it in memory for a while: people read it part by part, and decide on many pages that were
   * made from it. The result must not be changed.
   */
  async read(document: Document): Promise<Readonly<Extracted> | undefined> {
    const name = nameOf(document)
    const extracted = this.#recent.get(name) ?? (await this.find(document))
    if (extracted === undefined) return undefined
    this.#recent.set(name, extracted)
    return extracted
  }

  async remove(document: Document): Promise<void> {
    await this.#kept.remove(nameOf(document))
    this.#recent.delete(nameOf(document))
  }

  async keep(document: Document, extracted: Extracted): Promise<void> {
    await this.#kept.keep(nameOf(document), { ok: true, extracted }, { flush: false })
    this.#recent.delete(nameOf(document))
  }
}

function nameOf({ id }: Document): string {
  return `${id}-${version}.json`
}

export const modelDrafts = onePer(({ texts }: Context) => draftsIn(texts))

/**
 * Returns the store of drafts that language models made of documents. They are flushed to the disk, because a model may answer differently
 * the next time.
 */
export function draftsIn(kept: KeptJson): Drafts {
  const nameOfDraft = (key: string) => `${key}-draft.json`
  return {
    find: async (key) => Draft.safeParse(await kept.find(nameOfDraft(key))).data,
    keep: (key, draft) => kept.keep(nameOfDraft(key), draft, { flush: true }),
  }
}

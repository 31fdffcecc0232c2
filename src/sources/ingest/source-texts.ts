import { LRUCache } from 'lru-cache'
import { type Context, onePer } from '../../kb/context.ts'
import type { KeptJson } from '../../state/blobs/kept-json.ts'
import { Draft } from '../compile/model/model-draft.ts'
import type { Drafts } from '../compile/model-compiler.ts'
import { extractReply } from '../extract/confined/reply.ts'
import type { Extracted } from '../extracted.ts'

/** Raised whenever documents are read otherwise: what was kept before counts for nothing. */
const version = 10

type Document = { id: string }

/** UTF-16 units of all texts that stay in memory. */
const maxRecent = 8 * 2 ** 20

export const sourceTexts = onePer(({ texts }: Context) => new SourceTexts(texts))

/**
 * The text of Sources that were read. Each Source has its own, also where another has the same bytes: otherwise the
 * time of an ingest would tell that there is one. It is derived: what is missing or damaged is read from the document again, and
 * nothing is flushed to the disk.
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
   * Returns what {@link find} does, and keeps it in memory for a while: people read a text part by part, and decide on many pages
   * that were made of it. It must not be changed.
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

import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { LRUCache } from 'lru-cache'
import { cutText } from '../../rules/text/whole-characters.ts'
import { BudgetPool } from '../pool/budget-pool.ts'
import type { RenderedParts, RenderRequest } from './render-markdown.ts'
import { contentIdPrefix } from './safe-html.ts'

/** Blocks of a page as safe HTML. If something is shown as written, the first block explains it. */
export type Rendered = { blocks: string[]; isPlain: boolean }

/** CPU time for a page, in milliseconds: twice that of the largest ordinary page. */
const pageTime = 2000
/** Maximum characters of rendered HTML. */
const maxOutput = 4 * 1024 * 1024
/** Maximum characters of a page that is shown as written. */
const maxPlain = 1024 * 1024
const maxTasks = 100
/** Milliseconds until an idle thread ends. Starting one takes longer than rendering most pages. */
const idleTimeout = 10 * 60_000
/** Maximum characters of HTML in the cache of rendered pages. */
const maxKept = 8 * 1024 * 1024
/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const worker = new URL(`./render-worker${import.meta.url.slice(-3)}`, import.meta.url)

/**
 * Renders Markdown so that hostile text cannot block the server: in worker threads, with a budget of CPU time and memory. Text that exceeds
 * it is shown as plain text.
 */
export class RenderPool {
  readonly #pool = new BudgetPool<RenderRequest, RenderedParts | undefined>({
    worker,
    name: 'renderInThread',
    maxThreads: Math.min(2, Math.max(1, availableParallelism() - 1)),
    idleTimeout,
  })
  readonly #kept = new LRUCache<string, Rendered>({
    maxSize: maxKept,
    sizeCalculation: ({ blocks }) => 1 + sizeOf(blocks),
  })
  #tasks = 0

  async render(request: RenderRequest): Promise<Rendered> {
    const key = keyOf(request)
    return this.#kept.get(key) ?? this.#work(key, request)
  }

  async #work(key: string, request: RenderRequest): Promise<Rendered> {
    const { content } = request
    if (this.#tasks >= maxTasks) return plain(content, 'The server is busy, so this is the text as it is written.')
    this.#tasks++
    try {
      const parts = await this.#pool.run(request, pageTime)
      return this.#keep(key, shownParts(content, parts))
    } catch (error) {
      // Rendering took too long, exhausted memory or stack, or the pool is closed. Only a timeout is cached, since it would recur at the
      // same cost.
      const shown = plain(content, tooComplex)
      return error instanceof Error && error.name === 'AbortError' ? this.#keep(key, shown) : shown
    } finally {
      this.#tasks--
    }
  }

  #keep(key: string, rendered: Rendered): Rendered {
    this.#kept.set(key, rendered)
    return rendered
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }
}

function shownParts(content: string, parts: RenderedParts | undefined): Rendered {
  if (parts === undefined || sizeOf(parts.blocks) > maxOutput) return plain(content, tooComplex)
  const { blocks, isPartial } = parts
  return isPartial ? { blocks: [note(partlyPlain), ...blocks], isPlain: true } : { blocks, isPlain: false }
}

const tooComplex = 'This page is too complex to be shown with its formatting. This is the text as it is written.'
const partlyPlain =
  'A part of this page is too complex to be shown with its formatting. It stands here as it is written.'

function plain(content: string, reason: string): Rendered {
  const text = `<pre class="plain" dir="auto" tabindex="0" role="group" aria-label="Text">${escapeText(cutText(content, maxPlain))}</pre>`
  return { blocks: [note(reason), text], isPlain: true }
}

function note(text: string): string {
  return `<p class="warning">${text}</p>`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function keyOf({ content, links, idPrefix = contentIdPrefix, title }: RenderRequest): string {
  const parts = JSON.stringify([content, [...links], idPrefix, title])
  return createHash('sha256').update(parts).digest('base64')
}

function sizeOf(blocks: readonly string[]): number {
  return blocks.reduce((sum, { length }) => sum + length, 0)
}

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type OpenContext, openContext } from '../../src/app/open-context.ts'
import { chat } from '../../src/chat/answer-question.ts'
import type { Answerer } from '../../src/chat/answerer.ts'
import { ChatInput } from '../../src/contract/chat.ts'
import { GanglionError } from '../../src/contract/errors.ts'
import { RetrieveInput } from '../../src/contract/search.ts'
import { createKnowledgeBase, operator } from '../../src/kb/create-kb.ts'
import { importDirectory } from '../../src/operate/import/import-directory.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { retrieve } from '../../src/search/kb/retrieve.ts'
import { workFolder } from '../support/measure.ts'
import type { Given } from './judge.ts'

/** A manual in a knowledge base of its own, with its index built. */
export class Manual {
  readonly ctx: OpenContext
  readonly #caller: Caller

  private constructor(ctx: OpenContext, caller: Caller) {
    this.ctx = ctx
    this.#caller = caller
  }

  static async import(folder: string): Promise<Manual> {
    const ctx = await openContext({ dataDir: join(workFolder(), 'data') })
    await createKnowledgeBase(ctx, { tenant: 'bench', slug: 'manual' })
    const tenantId = (await ctx.tenants.find('bench'))?.id ?? ''
    await importDirectory(await ctx.kb(tenantId, 'manual'), folder, { actor: operator, now: ctx.now })
    const caller: Caller = { id: 'key:bench', name: 'Bench', tenantId, role: 'app', connectors: [] }
    const manual = new Manual(ctx, caller)
    while ((await manual.retrieve('What is this?').catch(unlessUnavailable)).behind !== undefined) await delay(500)
    return manual
  }

  retrieve(query: string, maxChars?: number) {
    return retrieve(this.ctx, this.#caller, 'manual', RetrieveInput.parse({ query, maxChars }))
  }

  /** @param sessionId of a question before it. */
  async ask(
    answerer: Answerer,
    message: string,
    sessionId?: string,
  ): Promise<Given & { sessionId?: string | undefined }> {
    const input = ChatInput.parse({ message, ...(sessionId === undefined ? { kb: 'manual' } : { sessionId }) })
    const answering = chat(this.ctx, answerer, this.#caller, input, new AbortController().signal)
    for (;;) {
      const { done, value } = await answering.next()
      if (!done) continue
      const paths = (value.citations ?? []).map(({ path }) => path)
      return { text: value.answer, paths, sessionId: value.sessionId }
    }
  }

  close(): Promise<void> {
    return this.ctx.close()
  }
}

function unlessUnavailable(error: unknown): { behind: true } {
  if (!(error instanceof GanglionError) || error.code !== 'unavailable') throw error
  return { behind: true }
}

import type { KnowledgeBaseList } from '../contract/knowledge-bases.ts'
import type { Context } from '../kb/context.ts'
import { labelOnMain } from '../kb/kb-access.ts'
import type { KbLabel } from '../kb/readable-kb.ts'
import type { Caller } from '../rules/access/caller.ts'

/** Maximum knowledge bases whose settings are read at a time. */
const atOnce = 8

export async function listKnowledgeBases(ctx: Context, { tenantId }: Caller): Promise<KnowledgeBaseList> {
  const identities = await ctx.knowledgeBases.list(tenantId)
  const knowledgeBases: KnowledgeBaseList['knowledgeBases'] = []
  for (let start = 0; start < identities.length; start += atOnce) {
    const some = identities.slice(start, start + atOnce).map(async (identity) => {
      const { id, prefix } = identity
      return { id, ...(await labelOnMain(ctx, identity)), prefix }
    })
    knowledgeBases.push(...(await Promise.all(some)))
  }
  return { knowledgeBases }
}

export type FirstKbs = { labels: readonly KbLabel[]; total: number }

export async function firstKnowledgeBases(ctx: Context, { tenantId }: Caller, most: number): Promise<FirstKbs> {
  const identities = await ctx.knowledgeBases.list(tenantId)
  const labels = await Promise.all(identities.slice(0, most).map((identity) => labelOnMain(ctx, identity)))
  return { labels, total: identities.length }
}

/** Describes one knowledge base. @throws {GanglionError} `not_found` */
export async function describeKb(
  ctx: Context,
  { tenantId }: Caller,
  kbName: string,
): Promise<KnowledgeBaseList['knowledgeBases'][number]> {
  const kb = await ctx.readableKb(tenantId, kbName)
  const { id, slug, prefix } = kb.identity
  const { title, language } = await kb.settings()
  return { id, slug, title: title ?? slug, language, prefix }
}

import type { KnowledgeBaseList } from '../contract/knowledge-bases.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'

export type KbDescription = KnowledgeBaseList['knowledgeBases'][number]

/** Describes one knowledge base. @throws {GanglionError} `not_found` */
export async function describeKb(ctx: Context, { tenantId }: Caller, kbName: string): Promise<KbDescription> {
  const kb = await ctx.readableKb(tenantId, kbName)
  const { id, slug, prefix } = kb.identity
  const { title, language } = await kb.settings()
  return { id, slug, title: title ?? slug, language, prefix }
}

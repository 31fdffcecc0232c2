import type { KnowledgeBaseList } from '../../contract/knowledge-bases.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'

/** The knowledge bases of the caller's tenant, by slug. */
export async function listKnowledgeBases(ganglion: Ganglion, { tenantId }: Caller): Promise<KnowledgeBaseList> {
  const identities = await ganglion.knowledgeBases.list(tenantId)
  const knowledgeBases = identities.map(async (identity) => {
    const { id, slug, prefix } = identity
    const kb = await ganglion.openToRead(identity)
    const { title, language } = await kb.settings()
    return { id, slug, title: title ?? slug, language, prefix }
  })
  return { knowledgeBases: await Promise.all(knowledgeBases) }
}

import type { KnowledgeBaseList } from '../../contract/knowledge-bases.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'

/** Whose settings are read at a time. */
const atOnce = 8

/** The knowledge bases of the caller's tenant, by slug. Opens none. */
export async function listKnowledgeBases(ganglion: Ganglion, { tenantId }: Caller): Promise<KnowledgeBaseList> {
  const identities = await ganglion.knowledgeBases.list(tenantId)
  const knowledgeBases: KnowledgeBaseList['knowledgeBases'] = []
  for (let start = 0; start < identities.length; start += atOnce) {
    const some = identities.slice(start, start + atOnce).map(async (identity) => {
      const { id, slug, prefix } = identity
      const { title, language } = (await ganglion.mainSettings.read(identity)) ?? {}
      return { id, slug, title: title ?? slug, language: language ?? 'en', prefix }
    })
    knowledgeBases.push(...(await Promise.all(some)))
  }
  return { knowledgeBases }
}

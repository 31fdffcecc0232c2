import type { OpenContext } from '../../../src/app/open-context.ts'
import { buildServer } from '../../../src/http/server.ts'

/** Every answer that the API gives on a knowledge base, as text by address: the queue, each candidate, each Neuron at each commit, lists and graphs. */
export async function everyAnswer(
  ctx: OpenContext,
  { token, kb, seqIds, commits }: { token: string; kb: string; seqIds: readonly string[]; commits: readonly string[] },
): Promise<Map<string, string>> {
  const server = await buildServer(ctx, { rateReads: 1_000_000 })
  const answers = new Map<string, string>()
  const get = async (url: string) => {
    const { statusCode, body } = await server.inject({ url, headers: { authorization: `Bearer ${token}` } })
    answers.set(url, `${statusCode} ${body}`)
    return body
  }
  try {
    const ids: string[] = []
    let next = `/api/v1/queue/candidates?kb=${kb}&limit=7`
    while (next !== '') {
      const page: { candidates: { candidateId: string }[]; nextCursor: string | null } = JSON.parse(await get(next))
      ids.push(...page.candidates.map(({ candidateId }) => candidateId))
      next = page.nextCursor === null ? '' : `/api/v1/queue/candidates?kb=${kb}&limit=7&cursor=${page.nextCursor}`
    }
    for (const id of ids) await get(`/api/v1/queue/candidates/${id}`)
    for (const listing of ['neurons', 'graph', 'llms.txt', 'search?q=page+OR+vip+OR+lead']) {
      await get(`/api/v1/knowledge-bases/${kb}/${listing}`)
    }
    for (const seqId of seqIds) {
      await get(`/api/v1/neurons/${kb}/${seqId}`)
      for (const commit of commits) await get(`/api/v1/neurons/${kb}/${seqId}?at=${commit}`)
    }
    await get('/api/v1/knowledge-bases')
    await get(`/api/v1/knowledge-bases/${kb}/neurons`)
    await get(`/api/v1/knowledge-bases/${kb}/graph`)
    for (const seqId of seqIds) await get(`/api/v1/knowledge-bases/${kb}/graph?around=${seqId}&depth=2`)
    return answers
  } finally {
    await server.close()
  }
}

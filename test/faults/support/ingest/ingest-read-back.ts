import type { IngestApi } from './ingest-api.ts'
import type { IngestLedger, ToldSource } from './ingest-ledger.ts'

/** What a server answers otherwise than it acknowledged, of some of the Sources that were told of. */
export async function readBack(
  api: IngestApi,
  ledger: IngestLedger,
  isAsked: (source: ToldSource) => boolean,
): Promise<string[]> {
  const problems: string[] = []
  for (const [id, source] of ledger.sources) {
    if (!isAsked(source)) continue
    const answer = await api.request('GET', `/documents/${id}`)
    const hash = await api.contentHash(id)
    if (answer?.status !== 200) problems.push(`${id} is ${JSON.stringify(answer)}`)
    if (hash !== source.document.sha256) problems.push(`${id} of ${source.document.sha256} is downloaded as ${hash}`)
  }
  return problems
}

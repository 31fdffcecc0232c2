import type { IngestApi } from './ingest-api.ts'
import type { IngestLedger, ToldSource } from './ingest-ledger.ts'

/** Returns answers of a server that differ from its acknowledgements, for some of the acknowledged Sources. */
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

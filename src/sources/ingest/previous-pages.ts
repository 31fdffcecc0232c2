import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { candidatesOfOrigin, type OriginRow, originsBelow } from '../../kb/projection/candidate-index.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { type Candidate, ingestActor, ingestConnector, lastVerdict } from '../../rules/candidates/candidate.ts'
import { parseMetadata } from '../../rules/candidates/metadata.ts'
import { withoutOrigin } from '../../rules/neurons/origin-line.ts'
import { type OldPage, summaryKey } from '../compile/editions/continue-parts.ts'
import { originalOf, originPrefix } from './source-candidate.ts'

const wikiLink = /\[\[([^[\]]+)\]\]/g

/**
 * The pages that the editions of a document have become, as ingest proposed them last: what main has taken, else what was proposed
 * since. In the order of the last summary's contents.
 */
export async function previousPages(
  kb: KnowledgeBase,
  { editionOf, sha256 }: { editionOf: string; sha256: string },
): Promise<OldPage[]> {
  const { read: sql } = kb.projection
  const prefix = originPrefix(editionOf)
  const readText = (oid: string) => kb.repository.readText(oid)
  const pages: OldPage[] = []
  for (const origin of originsBelow(sql, ingestConnector, prefix)) {
    const past = candidatesOfOrigin(sql, ingestConnector, origin).filter(({ removes }) => !removes)
    const [latest] = past
    if (latest === undefined) continue
    const { record } = await originalOf(readText, latest)
    const { approval } = latest
    const isGone =
      approval === undefined ? latest.status === 'dismissed' : findNeuron(sql, approval.seqId) === undefined
    pages.push({
      key: origin.slice(prefix.length),
      title: record.title,
      text: withoutOrigin(record.content),
      isGone,
      refused: await refusedText(readText, past),
      part: partOf(record, sha256),
    })
  }
  return inOrder(pages)
}

/** The part of a file of these bytes that a page was made of. */
function partOf({ frontMatter, metadata }: Candidate, sha256: string): string | undefined {
  const { part } = parseMetadata(metadata).data
  const isSame = parseNeuronFile(frontMatter ?? '').fields.sources.some((source) => source.sha256 === sha256)
  return isSame && typeof part === 'string' ? part : undefined
}

/** The text that a curator refused last to take for the page's next version, since it might be about something else. */
async function refusedText(
  readText: (oid: string) => Promise<string>,
  past: readonly OriginRow[],
): Promise<string | undefined> {
  for (const row of past) {
    if (row.status !== 'dismissed') continue
    const { record } = await originalOf(readText, row)
    const isUncertain = parseMetadata(record.metadata).data.isUncertain === true
    if (isUncertain && lastVerdict(record)?.by.id !== ingestActor.id) return withoutOrigin(record.content)
  }
  return undefined
}

/** What the contents do not list comes last. */
function inOrder(pages: readonly OldPage[]): OldPage[] {
  const contents = pages.find(({ key }) => key === summaryKey)?.text ?? ''
  const places = new Map(Array.from(contents.matchAll(wikiLink), ([, title = ''], at) => [title, at]))
  const placeOf = ({ title }: OldPage) => places.get(title) ?? Number.POSITIVE_INFINITY
  return pages.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : Number(placeOf(one) > placeOf(other))))
}

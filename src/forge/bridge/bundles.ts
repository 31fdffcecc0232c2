import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { largestBundle } from '../../kb/refs/candidate-head-names.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'

/** What several candidates were made of, and what a pull request with all of them is called. */
type Whole = { key: string; name: string }

/**
 * Groups candidates that belong together: those of one Source, of one push, or of one lint run. A bundle holds six at most, all of
 * one zone. Bundles keep the order of their first candidates.
 */
export async function bundled(kb: KnowledgeBase, candidateIds: readonly string[]): Promise<string[][]> {
  const bundles: string[][] = []
  const open = new Map<string, string[]>()
  for (const id of candidateIds) {
    const key = (await wholeOf(kb, id))?.key
    const bundle = key === undefined ? undefined : open.get(key)
    if (bundle !== undefined && bundle.length < largestBundle) bundle.push(id)
    else {
      const begun = [id]
      bundles.push(begun)
      if (key !== undefined) open.set(key, begun)
    }
  }
  return bundles
}

/** What a candidate is a part of; undefined where it stands for itself. */
export async function wholeOf(
  { projection, repository }: KnowledgeBase,
  candidateId: string,
): Promise<Whole | undefined> {
  const row = findCandidate(projection.read, candidateId)
  if (row === undefined) return undefined
  const record = parseCandidate(await repository.readText(row.blob))
  const { createdBy, createdAt, connector, frontMatter } = record
  const [source] = frontMatter === null ? [] : parseNeuronFile(frontMatter).fields.sources
  const whole = (kind: string, name: string) => ({ key: JSON.stringify([kind, row.zone]), name })
  if (source?.id !== undefined) return whole(`source ${source.id}`, source.filename ?? 'a Source')
  if (connector === 'git') return whole(`push ${createdBy.id} ${createdAt}`, `a push of ${createdBy.name}`)
  const minute = createdAt.slice(0, 'yyyy-mm-ddThh:mm'.length)
  return connector === 'lint' ? whole(`lint ${minute}`, `lint of ${minute.replace('T', ' ')}`) : undefined
}

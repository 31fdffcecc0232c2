import { undefinedOn } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { readQueued } from '../queue/describe-candidate.ts'
import type { Caller } from '../rules/access/caller.ts'
import { findResembling, wordsWithin } from '../rules/neurons/resemblance.ts'
import { tagKey } from '../rules/neurons/tag.ts'
import { retrievePassages } from '../search/kb/retrieve.ts'
import { ownTurn } from '../system/pauses.ts'

export type SimilarNeuron = { seqId: string; title: string; why: string[] }

type Compared = { title: string; content: string; tags: readonly string[] }

/** Maximum characters of a candidate from which the words of the search query are taken. */
const maxRead = 2_000
const maxAsked = 8
const maxPassages = 16
const maxShown = 5
/** Minimum resemblance of a text that is shown for it. */
const leastResemblance = 0.05
const leastWordLength = 4

/**
 * Returns Neurons that search finds for a candidate's text, except its target. `undefined` while search is busy. Takes longer than the rest
 * of a review, because of the long query.
 * @throws {GanglionError} `not_found`
 */
export async function similarNeurons(
  ctx: Context,
  caller: Caller,
  candidateId: string,
): Promise<SimilarNeuron[] | undefined> {
  const { kb, row, candidate } = await readQueued(ctx, caller, candidateId)
  const { content } = candidate
  const { title, tags, target, approval } = row
  const query = [title, ...tellingWords(content)].join(' ')
  const asked = { query, audience: 'curator', limit: maxPassages } as const
  const found = await retrievePassages(ctx, kb, asked).catch(undefinedOn('unavailable'))
  const seqIds = new Set(found?.passages.map(({ seqId }) => seqId))
  const others = [...seqIds].filter((seqId) => seqId !== target && seqId !== approval?.seqId)
  return found && explained(kb, { title, content, tags }, others.slice(0, 2 * maxShown))
}

/** Returns the longest words of a text, which are mostly the rarest and make the search fast. */
function tellingWords(content: string): string[] {
  const words = new Set(wordsWithin(content.slice(0, maxRead)))
  return [...words].sort((a, b) => b.length - a.length).slice(0, maxAsked)
}

async function explained(kb: KnowledgeBase, candidate: Compared, seqIds: readonly string[]): Promise<SimilarNeuron[]> {
  const found = await Promise.all(
    seqIds.map(async (seqId) => {
      const neuron = findNeuron(kb.projection.read, seqId)
      return neuron && { ...neuron, text: parseNeuronFile(await kb.repository.readText(neuron.blob)).content }
    }),
  )
  const neurons = found.filter((neuron) => neuron !== undefined)
  const others = neurons.map(({ seqId, text }) => ({ name: seqId, text }))
  await ownTurn()
  const [alike = []] = findResembling([{ name: '', text: candidate.content }], others, leastResemblance)
  const shares = new Map(alike.map(({ name, resemblance }) => [name, resemblance]))
  const words = new Set(wordsWithin(candidate.title))
  const tags = new Set(candidate.tags.map(tagKey))
  return neurons
    .map(({ seqId, title, tags: others }) => {
      const share = shares.get(seqId) ?? 0
      const titleWords = [...new Set(wordsWithin(title))]
      const isSameTitle = titleWords.join(' ') === [...words].join(' ')
      const shared = titleWords.filter((word) => words.has(word) && word.length >= leastWordLength)
      const sharedTags = others.filter((tag) => tags.has(tagKey(tag)))
      const why = [
        ...(isSameTitle ? ['same title'] : shared.length > 0 ? [`title shares ${shared.slice(0, 5).join(', ')}`] : []),
        ...(share > 0 ? [`${Math.max(1, Math.round(share * 100))} % of the text is the same`] : []),
        ...(sharedTags.length > 0 ? [`tag ${sharedTags.slice(0, 3).join(', ')}`] : []),
      ]
      return { seqId, title, why, weight: Number(isSameTitle) + share }
    })
    .filter(({ why }) => why.length > 0)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, maxShown)
    .map(({ weight: _, ...shown }) => shown)
}

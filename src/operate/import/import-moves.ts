import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import type { BroughtNeuron } from '../../kb/projection/candidate-index.ts'
import { foreignIdOf, type NoteOptions } from './import-note.ts'
import type { ImportPlan, ReadNote } from './import-plan.ts'
import { fileBatches, readNotes } from './read-notes.ts'

/** Fields that identify a note independently of its path. */
type Identity = { source: string; sha256: string; foreignId: string | undefined }

/** Moved and vanished notes. `moved`: Neurons of notes that were renamed in the folder, by the notes' new `source`. */
export type Moves = { moved: Map<string, BroughtNeuron>; vanished: BroughtNeuron[] }

/**
 * Compares the folder with the Neurons of earlier runs. A new note is a vanished one if both have the same `id` in their front matter, or
 * else the same bytes, and no other note has; among several with the same bytes, if the file names are the same.
 * @param known by the notes' `source`
 */
export async function findMoves(
  kb: KnowledgeBase,
  { notes, skipped }: ImportPlan,
  { known, sourceName, ...options }: { known: ReadonlyMap<string, BroughtNeuron>; sourceName: string } & NoteOptions,
): Promise<Moves> {
  const present = new Set(notes.map(({ source }) => source))
  const unread = skipped.map(({ path }) => `${sourceName}/${path}`)
  const isThere = (source: string) =>
    present.has(source) || unread.some((path) => source === path || source.startsWith(`${path}/`))
  const vanished = new Set([...known.values()].filter(({ origin }) => !isThere(origin)))
  const moved: Moves['moved'] = new Map()
  if (vanished.size === 0) return { moved, vanished: [] }

  const added: Identity[] = []
  for (const batch of fileBatches(notes.filter(({ source }) => !known.has(source)))) {
    added.push(...(await readNotes(batch, { ...options, parser: kb.parser })).notes.map(identityOf))
  }
  const ids = new Map<BroughtNeuron, string | undefined>()
  for (const neuron of vanished) ids.set(neuron, foreignIdOf(await kb.repository.readTextOnce(neuron.blob)))
  const fileName = (source: string) => source.slice(source.lastIndexOf('/') + 1)
  const keys: [(neuron: BroughtNeuron) => string | undefined, (note: Identity) => string | undefined][] = [
    [(neuron) => ids.get(neuron), ({ foreignId }) => foreignId],
    [
      ({ fingerprint, origin }) => `${fingerprint} ${fileName(origin)}`,
      ({ sha256, source }) => `${sha256} ${fileName(source)}`,
    ],
    [({ fingerprint }) => fingerprint, ({ sha256 }) => sha256],
  ]
  for (const [keyOfNeuron, keyOfNote] of keys) {
    const unmatched = added.filter(({ source }) => !moved.has(source))
    for (const [neuron, { source }] of uniquePairs([...vanished], keyOfNeuron, unmatched, keyOfNote)) {
      moved.set(source, neuron)
      vanished.delete(neuron)
    }
  }
  return { moved, vanished: [...vanished] }
}

function identityOf({ source, sha256, note }: ReadNote): Identity {
  return { source, sha256, foreignId: note.foreignId }
}

/** Pairs items of both sides with a key that only one item of each side has. */
function uniquePairs<A, B>(
  as: readonly A[],
  keyOfA: (a: A) => string | undefined,
  bs: readonly B[],
  keyOfB: (b: B) => string | undefined,
): [A, B][] {
  const byKey = Map.groupBy(bs, keyOfB)
  return [...Map.groupBy(as, keyOfA)].flatMap(([key, [a, ...otherAs]]): [A, B][] => {
    const [b, ...otherBs] = key === undefined ? [] : (byKey.get(key) ?? [])
    const isUnique = otherAs.length === 0 && otherBs.length === 0
    return isUnique && a !== undefined && b !== undefined ? [[a, b]] : []
  })
}

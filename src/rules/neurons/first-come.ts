import type { Candidate } from '../candidates/candidate.ts'

/** Connectors of whole pages that come from a person's vault or editor. Such a page may reuse a name. */
const vaultDoors: ReadonlySet<string> = new Set(['git', 'import', 'console', 'rename', 'undo'])

/** True if pages of a connector may reuse the name of another page. */
export function isVaultDoor(connector: string): boolean {
  return vaultDoors.has(connector)
}

type Origin = Pick<Candidate, 'connector' | 'createdBy'>

/** Returns the connector that main's commits record for a candidate. An API key may claim any connector, but never counts as a vault. */
export function doorOf({ connector, createdBy }: Origin): string {
  return isVaultDoor(connector) && createdBy.id.startsWith('key:') ? 'api' : connector
}

/**
 * True if a candidate came over the API, from a Source, a feed or lint, whoever approves it. It never changes what existing links mean: a
 * name stays with the Neuron that had it first.
 */
export function isFirstCome(candidate: Origin): boolean {
  return !isVaultDoor(doorOf(candidate))
}

/**
 * Returns the Neurons of a commit of main whose candidates are {@link isFirstCome}. A `Connector` trailer applies to the Neurons before it.
 */
export function firstComeNeurons(trailers: Iterable<readonly [name: string, value: string]>): Set<string> {
  const found = new Set<string>()
  let neurons: string[] = []
  for (const [name, value] of trailers) {
    if (name === 'Neuron') neurons.push(value)
    if (name !== 'Connector') continue
    if (!isVaultDoor(value)) for (const seqId of neurons) found.add(seqId)
    neurons = []
  }
  return found
}

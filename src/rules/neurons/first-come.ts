import type { Candidate } from '../candidates/candidate.ts'

/** Connectors of whole pages that a person has in a vault or an editor, or had. Such a page may give a name a second time. */
const vaultDoors: ReadonlySet<string> = new Set(['git', 'import', 'console', 'rename', 'undo'])

/** Whether pages that come by a connector may give a name a second time. */
export function isVaultDoor(connector: string): boolean {
  return vaultDoors.has(connector)
}

type Origin = Pick<Candidate, 'connector' | 'createdBy'>

/** The connector of a candidate as main's commits tell it: an API key may claim any of them, but comes by no vault's door. */
export function doorOf({ connector, createdBy }: Origin): string {
  return isVaultDoor(connector) && createdBy.id.startsWith('key:') ? 'api' : connector
}

/**
 * Whether a candidate came over the API, from a Source, a feed or lint, whoever approves it. It never changes what existing links
 * mean: a name stays with the Neuron that had it first.
 */
export function isFirstCome(candidate: Origin): boolean {
  return !isVaultDoor(doorOf(candidate))
}

/** The Neurons of a commit of main whose candidates are {@link isFirstCome}: a `Connector` is that of the Neurons before it. */
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

import { type FileLookup, fileNameKey, resolveFile } from './file-target.ts'
import { type LinkAddress, type NamedNeuron, type Resolution, resolveTarget } from './link-target.ts'

/** Result of resolving a link: a Neuron, the path of another file, nothing, or several Neurons. */
export type LinkMeaning = Resolution | { file: string }

/**
 * Resolves a link whose name a Neuron and a file may share. The Neuron wins unless it yields its names, as Neurons submitted over the API
 * do; these are still found by seqId and path.
 */
export function meaningOf(
  link: LinkAddress,
  { names, files }: { names: (key: string) => readonly NamedNeuron[]; files: FileLookup },
): LinkMeaning {
  const { target, from } = link
  const file = fileNameKey(target) === undefined ? undefined : resolveFile(target, from, files)
  const found = resolveTarget(
    link,
    file === undefined ? names : (key) => names(key).filter((name) => !yieldsToFile(name)),
  )
  if (!('missing' in found)) return found
  const meant = file ?? hiddenFile(link, files)
  return meant === undefined ? found : { file: meant }
}

/**
 * Returns the hidden file whose full path a link spells out. Anything visible of that name wins, so that the link does not reveal whether
 * the file exists.
 */
function hiddenFile({ target, from }: LinkAddress, { hides }: FileLookup): string | undefined {
  return hides && fileNameKey(target) !== undefined
    ? resolveFile(target, from, { has: hides, byKey: () => [] })
    : undefined
}

/** True if a Neuron's name yields to a file of the same name. */
export function yieldsToFile({ kind, claim }: Pick<NamedNeuron, 'kind' | 'claim'>): boolean {
  return claim?.yields === true && kind !== 'seqId' && kind !== 'path'
}

import { type FileLookup, fileNameKey, resolveFile } from './file-target.ts'
import { type LinkAddress, type NamedNeuron, type Resolution, resolveTarget } from './link-target.ts'

/** What a link means: a Neuron, a file that is none (its path), nothing, or several Neurons. */
export type LinkMeaning = Resolution | { file: string }

/**
 * What a link of a page means, where a Neuron and a file may have one name: the Neuron, unless it yields its names, as one that came
 * over the API does; it is still reached by its seqId and its path.
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

/** The hidden file whose path a link spells out. What else has that name comes first, so that nobody learns whether there is one. */
function hiddenFile({ target, from }: LinkAddress, { hides }: FileLookup): string | undefined {
  return hides && fileNameKey(target) !== undefined
    ? resolveFile(target, from, { has: hides, byKey: () => [] })
    : undefined
}

/** Whether a name of a Neuron gives way to a file of the same name. */
export function yieldsToFile({ kind, claim }: Pick<NamedNeuron, 'kind' | 'claim'>): boolean {
  return claim?.yields === true && kind !== 'seqId' && kind !== 'path'
}

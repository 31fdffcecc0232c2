import {
  exactKey,
  fileKeys,
  type LinkAddress,
  linkKey,
  type NamedNeuron,
  type Resolution,
  resolveTarget,
} from './link-target.ts'

/**
 * Looks up the files of a knowledge base by path, and by the keys of {@link fileKeys}. `hides`: true if there is a file at a path that a
 * reader may only know of where a page opens it.
 */
export type FileLookup = {
  has(path: string): boolean
  byKey(key: string): readonly string[]
  hides?(path: string): boolean
}

const fileName = /[^/]\.(?!(?:md|markdown)$)[^./\s]{1,16}$/i
const pagesFolder = 'neurons/'

/** Returns the key of the file name in a link's target, if the target may name a file that is not a page. */
export function fileNameKey(target: string): string | undefined {
  const name = target.trim()
  return fileName.test(name) ? linkKey(name.slice(name.lastIndexOf('/') + 1)) : undefined
}

/**
 * Returns the path of the file that a link names. `./` and `../` start at the page's folder, `/` at the root. Any other target starts at
 * the page's folder, or, if it contains a folder, at `neurons/` or the root; otherwise it matches the end of a path. An exact spelling wins
 * over a folded one. Of several matches the one nearest to the page wins: in or below the page's folder, then in or below its parent, and
 * so on; then the first by name.
 * @param page the path of the page's file
 */
export function resolveFile(target: string, page: string, files: FileLookup): string | undefined {
  const written = target.trim().normalize('NFC')
  const folder = page.slice(0, page.lastIndexOf('/') + 1)
  const isRelative = /^\.\.?\//.test(written)
  const isHere = isRelative || !written.includes('/')
  const bases = written.startsWith('/') ? [pagesFolder, ''] : isHere ? [folder] : [folder, pagesFolder, '']
  for (const base of bases) {
    const path = joined(base, written.replace(/^\/+/, ''))
    if (path !== undefined && files.has(path)) return path
  }
  const here = isRelative ? joined(folder, written) : undefined
  if (isRelative && here === undefined) return undefined
  // No exact spelling: compares as a file system that ignores case does.
  const ranked = files
    .byKey(linkKey(here ?? written.replace(/^\/+/, '')))
    .filter((path) => here === undefined || linkKey(path) === linkKey(here))
    .map((path) => ({ path, distance: distanceOf(folder, path) }))
    .sort((a, b) => a.distance.up - b.distance.up || a.distance.down - b.distance.down || (a.path < b.path ? -1 : 1))
  return ranked[0]?.path
}

/** True if a link's path differs from the path of its file only in case or other folded differences. */
export function isSpelledOtherwise(target: string, path: string): boolean {
  const written = exactKey(target)
    .split('/')
    .filter((name) => !/^\.{0,2}$/.test(name))
  const meant = path.split('/').slice(-written.length)
  return linkKey(meant.join('/')) === linkKey(written.join('/')) && meant.join('/') !== written.join('/')
}

function distanceOf(folder: string, path: string): { up: number; down: number } {
  const [from, to] = [folder.split('/').slice(0, -1), path.split('/').slice(0, -1)]
  const parting = from.findIndex((name, at) => name !== to[at])
  const shared = parting < 0 ? from.length : parting
  return { up: from.length - shared, down: to.length - shared }
}

/** Returns the path that a target names relative to the folder of a page, whether or not the file exists. */
export function placeFromFolder(target: string, page: string): string | undefined {
  const written = target.trim().normalize('NFC')
  return written.startsWith('/') ? undefined : joined(page.slice(0, page.lastIndexOf('/') + 1), written)
}

export function fileLookup(paths: readonly string[]): FileLookup {
  const known = new Set(paths)
  const named = new Map<string, string[]>()
  for (const path of paths) {
    for (const key of fileKeys(path)) {
      const same = named.get(key)
      if (same === undefined) named.set(key, [path])
      else same.push(path)
    }
  }
  return { has: (path) => known.has(path), byKey: (key) => named.get(key) ?? [] }
}

/** Joins a folder and a path. Returns `undefined` if the result is outside of the repository. */
function joined(folder: string, path: string): string | undefined {
  const names: string[] = []
  for (const name of `${folder}${path}`.split('/')) {
    if (name === '..' && names.pop() === undefined) return undefined
    if (name !== '..' && name !== '.' && name !== '') names.push(name)
  }
  return names.join('/')
}

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

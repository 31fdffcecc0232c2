import { exactKey, fileKeys, linkKey } from './link-target.ts'

/**
 * The files of a knowledge base: whether there is one at a path, and which have a name of a key, see `fileKeys`. `hides`: whether there
 * is one at a path of which a reader is told only where a page opens it.
 */
export type FileLookup = {
  has(path: string): boolean
  byKey(key: string): readonly string[]
  hides?(path: string): boolean
}

const fileName = /[^/]\.(?!(?:md|markdown)$)[^./\s]{1,16}$/i
const pagesFolder = 'neurons/'

/** The key of the file name in a link's target, if the target may name a file that is not a page. */
export function fileNameKey(target: string): string | undefined {
  const name = target.trim()
  return fileName.test(name) ? linkKey(name.slice(name.lastIndexOf('/') + 1)) : undefined
}

/**
 * The file that a link of a page names: `./` and `../` from the page's folder, `/` from the root; any other target from the page's
 * folder, or, with a folder in it, from `neurons/` or from the root, or else by the end of a path. A path that is spelled
 * otherwise counts where none is spelled so. Of several such files one in or below the page's folder counts first, then one in or
 * below the folder around that, and so on: the nearest, then the first by name.
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
  // Where the path is spelled otherwise, as on a disk that ignores case.
  const ranked = files
    .byKey(linkKey(here ?? written.replace(/^\/+/, '')))
    .filter((path) => here === undefined || linkKey(path) === linkKey(here))
    .map((path) => ({ path, distance: distanceOf(folder, path) }))
    .sort((a, b) => a.distance.up - b.distance.up || a.distance.down - b.distance.down || (a.path < b.path ? -1 : 1))
  return ranked[0]?.path
}

/** Whether a link's path differs from the path that it means in case or another way in which spellings of a name meet. */
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

/** The path that a target names from the folder of a page, whether there is a file or not. */
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

/** A path from a folder; `undefined` if it leads out of the repository. */
function joined(folder: string, path: string): string | undefined {
  const names: string[] = []
  for (const name of `${folder}${path}`.split('/')) {
    if (name === '..' && names.pop() === undefined) return undefined
    if (name !== '..' && name !== '.' && name !== '') names.push(name)
  }
  return names.join('/')
}

import { fileKeys, linkKey } from './link-target.ts'

/** The files of a knowledge base: whether there is one at a path, and which have a name of a key, see `fileKeys`. */
export type FileLookup = { has(path: string): boolean; byKey(key: string): readonly string[] }

const fileName = /[^/]\.(?!(?:md|markdown)$)[^./\s]{1,16}$/i
const pagesFolder = 'neurons/'

/** The key of the file name in a link's target, if the target may name a file that is not a page. */
export function fileNameKey(target: string): string | undefined {
  const name = target.trim()
  return fileName.test(name) ? linkKey(name.slice(name.lastIndexOf('/') + 1)) : undefined
}

/**
 * The file that a link of a page names: `./` and `../` from the page's folder, `/` from the root; any other target from the page's
 * folder, from `neurons/`, or from the root, or else by the end of a path. Of several such files the one in the page's folder
 * counts, then the shortest path, then the first by name.
 * @param page the path of the page's file
 */
export function resolveFile(target: string, page: string, files: FileLookup): string | undefined {
  const written = target.trim().normalize('NFC')
  const folder = page.slice(0, page.lastIndexOf('/') + 1)
  const isRelative = /^\.\.?\//.test(written)
  const bases = written.startsWith('/') ? [pagesFolder, ''] : isRelative ? [folder] : [folder, pagesFolder, '']
  for (const base of bases) {
    const path = joined(base, written.replace(/^\/+/, ''))
    if (path !== undefined && files.has(path)) return path
  }
  if (isRelative) return undefined
  const found = files.byKey(linkKey(written.replace(/^\/+/, '')))
  const rank = (path: string) => (path.startsWith(folder) && !path.includes('/', folder.length) ? 0 : 1)
  return found.toSorted(
    (a, b) => rank(a) - rank(b) || a.split('/').length - b.split('/').length || a.length - b.length || (a < b ? -1 : 1),
  )[0]
}

/** The path that a target names from the folder of a page, whether there is a file or not. */
export function placeFromFolder(target: string, page: string): string | undefined {
  const written = target.trim().normalize('NFC')
  return written.startsWith('/') ? undefined : joined(page.slice(0, page.lastIndexOf('/') + 1), written)
}

/** A look-up among files with these paths. */
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

import type { Candidate } from '../rules/candidates/candidate.ts'
import { idTail } from '../rules/candidates/candidate-id.ts'
import { parseMetadata, readMetadata } from '../rules/candidates/metadata.ts'
import { pathKey } from '../rules/paths/portable-path.ts'
import { fileSlug, uniqueSlug, withSuffix } from '../rules/paths/slug.ts'
import { asSpelledOnMain, blockedFolder, isNameTaken } from './projection/file-queries.ts'
import type { MainTables, Projection } from './projection/projection.ts'

/** Matches the dot of a folder named like a file. */
const fileFolderDot = /\.(?=[a-z][a-z0-9]{0,15}\/)/gi

/** Maximum bytes of a page's file name without `.md`. */
const maxNameBytes = 250

/** Returns the path that a candidate's metadata requests. */
export function requestedPath(candidate: Candidate): string | undefined {
  return readMetadata(parseMetadata(candidate.metadata).data).path
}

/** Returns a path in a folder by month, which keeps trees small: a flat folder of 10,000 files costs a quarter of a megabyte a commit. */
export function defaultPath(title: string, createdAt: string): string {
  const [year, month] = createdAt.split('-')
  return `neurons/${year}/${month}/${fileSlug(title)}.md`
}

/**
 * Returns a path that no file of main has or collides with. Unless a person or a document chose the name, it ends in the last characters of
 * the candidate's id: a number would reveal the names of hidden pages. For the same reason such a page is never placed below a folder named
 * like a file, whether there is such a file or not. Folders are spelled as on main, since Windows and macOS take `Guides` and `guides` for one.
 */
export function newPath(
  { sql, leaves }: { sql: MainTables; leaves?: ReadonlySet<string> },
  candidate: Candidate,
  title = candidate.title,
): string {
  const isWholePage = candidate.frontMatter !== null
  const wish = requestedPath(candidate)
  const own = isWholePage ? wish : wish?.replace(fileFolderDot, '-')
  const wishes = [own, defaultPath(title, candidate.createdAt)].filter((wish) => wish !== undefined)
  const free = wishes.find((wish) => blockedFolder(sql, wish) === undefined) ?? `neurons/${fileSlug(title)}.md`
  const path = asSpelledOnMain(sql, free)
  const [folder, wished] = [
    path.slice(0, path.lastIndexOf('/') + 1),
    path.slice(path.lastIndexOf('/') + 1, -'.md'.length),
  ]
  const name = isWholePage ? wished : withSuffix(wished, `-${idTail(candidate.id)}`, maxNameBytes)
  const isTaken = (slug: string) =>
    isNameTaken(sql, pathKey(`${folder}${slug}.md`), (path) => leaves?.has(path) === true)
  return `${folder}${uniqueSlug(name, isTaken, maxNameBytes)}.md`
}

/**
 * Returns the path of a new page, with a number appended if it is taken.
 * @param isTaken true if a file has a path with this key or collides with it; see `pathKey`
 */
export function freePagePath(path: string, isTaken: (key: string) => boolean): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? path : path.replace(/\.md$/, `-${number}.md`)
    if (!isTaken(pathKey(candidate))) return candidate
  }
}

/** Returns a function that tells whether a path is taken, by its key: by a file of main at or below it, or by the same commit. */
export function takenOnMain(sql: Projection['read'], keys: ReadonlySet<string>): (key: string) => boolean {
  return (key) => keys.has(key) || isNameTaken(sql, key)
}

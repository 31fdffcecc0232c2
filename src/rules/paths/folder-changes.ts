import { oneLine } from '../text/lines.ts'

/** Changed page. `movedFrom`: its previous path, if it moves. */
type ChangedPage = { path?: string; movedFrom?: string | undefined; removes?: boolean | undefined }
/** Folder that moves or is removed. `to`: absent if the pages are removed. */
type FolderChange<Page> = { from: string; to?: string; pages: Page[] }

/** Groups pages that moved with their folder, or are removed with it. */
export function folderChanges<Page extends ChangedPage>(
  pages: readonly Page[],
): { folders: FolderChange<Page>[]; others: Page[] } {
  const emptied = commonFolder(pages.flatMap(({ path, removes }) => (removes && path !== undefined ? [path] : [])))
  const found = new Map<string, FolderChange<Page>>()
  for (const page of pages) {
    const names = page.removes ? emptied : movedFolder(page)
    if (names === undefined) continue
    const folder = found.get(JSON.stringify(names)) ?? { ...names, pages: [] }
    folder.pages.push(page)
    found.set(JSON.stringify(names), folder)
  }
  const folders = [...found.values()].filter((folder) => folder.pages.length > 1)
  const told = new Set(folders.flatMap((folder) => folder.pages))
  return { folders, others: pages.filter((page) => !told.has(page)) }
}

function movedFolder({ path, movedFrom }: ChangedPage): { from: string; to: string } | undefined {
  if (path === undefined || movedFrom === undefined || path === movedFrom) return undefined
  const [to, from] = [path.split('/'), movedFrom.split('/')]
  if (to.at(-1) !== from.at(-1)) return undefined
  while (to.length > 1 && from.length > 1 && to.at(-1) === from.at(-1)) [to, from].map((segments) => segments.pop())
  return { from: folderName(from), to: folderName(to) }
}

/** Returns the deepest folder that contains all paths, or nothing if that is the folder of all pages. */
function commonFolder(paths: readonly string[]): { from: string } | undefined {
  const [first = [], ...others] = paths.map((path) => path.split('/').slice(0, -1))
  const length = first.findIndex((name, depth) => others.some((segments) => segments[depth] !== name))
  const common = length < 0 ? first : first.slice(0, length)
  return common.length > 1 ? { from: folderName(common) } : undefined
}

function folderName(segments: readonly string[]): string {
  return oneLine(`${segments.join('/')}/`, 200)
}

import { plainLine } from '../markdown/as-inline-markdown.ts'
import type { Bookmark } from './pdf-outline.ts'
import type { PdfPage } from './pdf-page.ts'

const heading = /^(#{1,6})\s+(.*)$/

/**
 * Makes bookmarks headings of their depth: the line that says the same, else a new one at the top of the page. Headings that
 * have no bookmark go below the one that they follow.
 */
export function withBookmarks(pages: readonly PdfPage[], bookmarks: readonly Bookmark[]): PdfPage[] {
  // A single one is mostly the name of a file.
  if (bookmarks.length < 2) return [...pages]
  const byPage = Map.groupBy(bookmarks, ({ page }) => page)
  let depth = 0
  return pages.map(({ number, lines }) => {
    const { added, levels } = place(lines, byPage.get(number) ?? [])
    const top = added.flatMap(({ title, depth: level }) => [`${marks(level)} ${plainLine(title)}`, ''])
    depth = added.at(-1)?.depth ?? depth
    const below = lines.map((line, at) => {
      const level = levels.get(at)
      const [, hashes = '', text = line] = heading.exec(line) ?? []
      if (level !== undefined) {
        depth = level
        return `${marks(level)} ${text}`
      }
      return hashes === '' ? line : `${marks(Math.max(hashes.length, depth + 1))} ${text}`
    })
    return { number, lines: [...top, ...below] }
  })
}

export function firstHeading(pages: readonly PdfPage[]): string | undefined {
  for (const { lines } of pages) {
    for (const line of lines) {
      const [, , text] = heading.exec(line) ?? []
      if (text) return text.replace(/\\(?=[!-/:-@[-`{-~])/g, '')
    }
  }
  return undefined
}

function place(lines: readonly string[], bookmarks: readonly Bookmark[]) {
  const added: Bookmark[] = []
  const levels = new Map<number, number>()
  const keys = lines.map((line) => (isText(line) ? keysOf(line) : []))
  for (const bookmark of bookmarks) {
    const wanted = keysOf(bookmark.title)
    const at = keys.findIndex((found, line) => !levels.has(line) && found.some((key) => wanted.includes(key)))
    if (at === -1) added.push(bookmark)
    else levels.set(at, bookmark.depth)
  }
  return { added, levels }
}

function isText(line: string): boolean {
  return line !== '' && !/^(?:```|\||\s|[-*+] )/.test(line)
}

/** A line as letters and digits, with its number and without. */
function keysOf(line: string): string[] {
  const text = line.replace(/^#+\s+/, '').toLowerCase()
  const bare = text.replace(/^(?:(?:chapter|section|part)\s+)?[\divxlc]+(?:\\?\.\d+)*\\?[.:)]?\s+/, '')
  return [text, bare].map((each) => each.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()).filter((key) => key !== '')
}

function marks(level: number): string {
  return '#'.repeat(Math.min(level, 6))
}

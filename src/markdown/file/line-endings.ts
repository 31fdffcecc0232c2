import type { LineEnding } from './front-matter.ts'

/**
 * Returns a text that was typed in a browser, which sends every line ending as CRLF, with the endings of the text that it
 * changes. Lines that are the same at the start and at the end keep theirs; the lines between get `eol`.
 */
export function keepLineEndings(before: string, typed: string, eol: LineEnding): string {
  const old = linesOf(before)
  const lines = linesOf(typed)
  const most = Math.min(old.length, lines.length)
  const isSame = (at: number, from: number) => lines.at(at)?.text === old.at(from)?.text
  let head = 0
  while (head < most && isSame(head, head)) head++
  let tail = 0
  while (tail < most - head && isSame(-1 - tail, -1 - tail)) tail++
  const shift = lines.length - old.length
  const kept = lines
    .map(({ text }, at) => {
      if (at === lines.length - 1) return text
      const known = at < head ? old[at] : at >= lines.length - tail ? old[at - shift] : undefined
      return text + (known?.ending || eol)
    })
    .join('')
  // The end of one line and that of an empty one after it can make one line ending: CR, LF.
  return linesOf(kept).length === lines.length ? kept : lines.map(({ text }) => text).join(eol)
}

/** The last line has no ending. */
function linesOf(text: string): { text: string; ending: string }[] {
  const parts = text.split(/(\r\n|\r|\n)/)
  return Array.from({ length: (parts.length + 1) / 2 }, (_, at) => ({
    text: parts[2 * at] ?? '',
    ending: parts[2 * at + 1] ?? '',
  }))
}

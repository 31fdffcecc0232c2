import { anchorsOf } from './anchors.ts'

/** Line ending of a page's first line. */
export type LineEnding = '\n' | '\r\n'

/** Converts line endings to LF, as in answers and diffs. */
export function unixLines(text: string): string {
  return text.replace(/\r\n?/g, '\n')
}

/**
 * Gives a changed text the line endings of the text before. Unchanged lines keep theirs; the others get the most frequent ending, or `eol`
 * if there is none. Takes n log n time.
 */
export function keepLineEndings(before: string, typed: string, eol: LineEnding): string {
  if (eol === '\n' && !before.includes('\r')) return unixLines(typed)
  const old = linesOf(before)
  const usual = usualEnding(old, eol)
  if (old.every(({ ending }) => ending === usual || ending === '')) return unixLines(typed).replaceAll('\n', usual)
  const lines = linesOf(typed)
  const endings = keptEndings(old, lines)
  let kept = ''
  for (const [at, { text, ending }] of lines.entries()) {
    const own = ending && (endings[at] || usual)
    // A CR kept before an empty line would merge with its LF into one line ending.
    kept += own === '\n' && text === '' && kept.endsWith('\r') ? '\r\n' : text + own
  }
  return kept
}

type Line = { text: string; ending: string }

/**
 * Returns the endings of unchanged lines: those at the start and end of each part between lines that occur once in both texts. In a part
 * with as many lines as before, each line keeps its own.
 */
function keptEndings(old: readonly Line[], lines: readonly Line[]): (string | undefined)[] {
  const textsOf = (all: readonly Line[]) => all.map(({ text }) => text)
  const endings: (string | undefined)[] = []
  let [oldStart, start] = [0, 0]
  for (const [oldEnd = old.length, end = lines.length] of [...anchorsOf([textsOf(old), textsOf(lines)]), []]) {
    const isAsLong = oldEnd - oldStart === end - start
    const keep = (from: number, to: number) => {
      if (!isAsLong && old[from]?.text !== lines[to]?.text) return false
      endings[to] = old[from]?.ending
      return true
    }
    const most = Math.min(oldEnd - oldStart, end - start)
    let head = 0
    while (head < most && keep(oldStart + head, start + head)) head++
    let tail = 1
    while (tail <= most - head && keep(oldEnd - tail, end - tail)) tail++
    ;[oldStart, start] = [oldEnd, end]
  }
  return endings
}

function usualEnding(lines: readonly Line[], eol: LineEnding): string {
  const counts = new Map<string, number>([[eol, 0]])
  for (const { ending } of lines) if (ending !== '') counts.set(ending, (counts.get(ending) ?? 0) + 1)
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0]
}

/** Splits a text into lines with their endings. The last line has none. */
function linesOf(text: string): Line[] {
  const parts = text.split(/(\r\n|\r|\n)/)
  return Array.from({ length: (parts.length + 1) / 2 }, (_, at) => ({
    text: parts[2 * at] ?? '',
    ending: parts[2 * at + 1] ?? '',
  }))
}

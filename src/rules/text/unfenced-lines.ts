import { closesFence, fenceMarker } from './fence.ts'

/** Yields the lines outside of code fences, however far these are indented, each with its 1-based number and without its line ending. */
export function* unfencedLines(text: string): Generator<{ line: string; number: number }> {
  let open: string | undefined
  for (const [at, written] of text.split('\n').entries()) {
    const line = written.replace(/\r$/, '')
    if (open === undefined) {
      open = fenceMarker(line.trimStart())
      if (open === undefined) yield { line, number: at + 1 }
    } else if (closesFence(line.trim(), open)) open = undefined
  }
}

/** Index of runs of backticks by their length, so that none is searched twice. */
export class CodeRuns {
  readonly #line: string
  #starts: Map<number, number[]> | undefined

  constructor(line: string) {
    this.#line = line
  }

  endOfCode(start: number): number | undefined {
    const length = runLength(this.#line, start)
    this.#starts ??= this.#findRuns()
    // Offsets of each length, last first. Requests ascend, so passed offsets are removed from the end.
    const starts = this.#starts.get(length) ?? []
    while ((starts.at(-1) ?? start + 1) <= start) starts.pop()
    const closing = starts.at(-1)
    return closing === undefined ? undefined : closing + length
  }

  #findRuns(): Map<number, number[]> {
    const starts = new Map<number, number[]>()
    for (const { index, 0: run } of this.#line.matchAll(/`+/g)) {
      const same = starts.get(run.length)
      if (same) same.push(index)
      else starts.set(run.length, [index])
    }
    for (const same of starts.values()) same.reverse()
    return starts
  }
}

export function runLength(line: string, start: number): number {
  let end = start
  while (line[end] === '`') end++
  return end - start
}

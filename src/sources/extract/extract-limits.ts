/** Limits of a process that extracts. Times are in milliseconds. */
export type ExtractLimits = {
  wallTime: number
  cpuTime: number
  /** Maximum bytes of resident memory. */
  memory: number
  /** Maximum bytes that the process may return. */
  output: number
}

export const defaultLimits: ExtractLimits = {
  wallTime: 120_000,
  cpuTime: 60_000,
  memory: 2 ** 30,
  output: 64 * 2 ** 20,
}

/** Maximum bytes of the Markdown of a document. */
export const maxMarkdownBytes = 20 * 2 ** 20

/** Limits of an archive; `ratio` is that of its inflated bytes to its own size. */
export const zipLimits = { entries: 10_000, inflatedBytes: 200 * 2 ** 20, ratio: 100 }

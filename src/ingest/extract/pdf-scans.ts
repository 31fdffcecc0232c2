import type { OnProgress } from '../extracted.ts'
import { withOcr } from './ocr.ts'
import { countLetters, type ReadPage } from './pdf-read-page.ts'

/** When this is spent no further page is recognised, so that what was read is not lost to the limit of the process. */
const cpuBudget = 45_000_000 // microseconds
const wallBudget = 80_000 // milliseconds

/**
 * Recognises the pages that are pictures, or whose letters have no meaning for a program.
 * @returns Markdown by page number, where that has more text than the page had
 */
export async function recogniseScans(
  source: Buffer,
  pages: readonly ReadPage[],
  onProgress: OnProgress,
): Promise<{ texts: Map<number, string>; warnings: string[] }> {
  const texts = new Map<number, string>()
  const scans = pages.filter(({ scan }) => scan !== undefined)
  if (scans.length === 0) return { texts, warnings: [] }
  const unread: number[] = []
  const start = performance.now()
  const computing = process.cpuUsage()
  await withOcr(async (ocr) => {
    for (const [index, { number, longSide, letters, scan }] of scans.entries()) {
      onProgress(pages.length - scans.length + index, pages.length)
      const { user, system } = process.cpuUsage(computing)
      if (user + system > cpuBudget || performance.now() - start > wallBudget) {
        unread.push(number)
        continue
      }
      const text = await ocr.page(source, number, longSide).catch(() => '')
      if (countLetters(text) > (scan === 'garbled' ? 0 : letters)) texts.set(number, text)
    }
  })
  return { texts, warnings: warningsOf(texts.size, unread) }
}

function warningsOf(recognised: number, unread: readonly number[]): string[] {
  const warnings: string[] = []
  if (recognised > 0) {
    warnings.push(
      `${recognised} scanned pages were recognised, as English: letters may be wrong, and the layout is simplified.`,
    )
  }
  if (unread.length > 0) {
    warnings.push(
      `${unread.length} scanned pages, from page ${unread[0]} on, were not recognised: it would take too long.`,
    )
  }
  return warnings
}

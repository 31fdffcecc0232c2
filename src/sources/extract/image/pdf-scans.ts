import type { OnProgress, Recognised } from '../../extracted.ts'
import { pageList } from '../pdf/pdf-page.ts'
import { countLetters, type ReadPage } from '../pdf/pdf-read-page.ts'
import { recognisedIn, withOcr } from './ocr.ts'

/** Results for the pages that are pictures. */
type Scans = {
  /** Markdown by page number, if it has more text than the page had. */
  texts: Map<number, string>
  recognised: Recognised | undefined
  warnings: string[]
  doubts: string[]
}

/** Recognises pages that are pictures, or whose characters have no meaning, pages without any text first. */
export async function recogniseScans(
  source: Buffer,
  pages: readonly ReadPage[],
  {
    isSpent,
    onProgress,
    languages,
  }: { isSpent: () => boolean; onProgress: OnProgress; languages: readonly string[] | undefined },
): Promise<Scans> {
  const texts = new Map<number, string>()
  const scans = pages.filter(({ scan }) => scan !== undefined).toSorted((one, other) => urgency(one) - urgency(other))
  const wordless: number[] = []
  const unread: number[] = []
  let words = 0
  let sum = 0
  const recognise = scans.length === 0 ? undefined : withOcr
  const read = await recognise?.(languages, async (ocr) => {
    for (const [index, { number, longSide, letters, scan }] of scans.entries()) {
      onProgress(pages.length - scans.length + index, pages.length)
      if (isSpent()) {
        unread.push(number)
        continue
      }
      const page = await ocr.page({ source, number, longSide, mayBeTurned: letters === 0 }).catch(() => undefined)
      if (page !== undefined && countLetters(page.markdown) > (scan === 'garbled' ? 0 : letters)) {
        texts.set(number, page.markdown)
        words += page.words
        sum += page.words * page.confidence
      } else if (letters === 0) wordless.push(number)
    }
    return ocr
  })
  return {
    texts,
    recognised: words === 0 ? undefined : recognisedIn(languages, { words, confidence: sum / words }),
    doubts: words === 0 ? [] : (read?.doubts ?? []),
    warnings: warningsOf(texts, read?.languages ?? '', {
      blank: numbersOf(pages.filter(({ isBlank }) => isBlank)),
      wordless,
      unread,
    }),
  }
}

function urgency({ letters, scan }: ReadPage): number {
  return letters === 0 ? 0 : scan === 'garbled' ? 1 : 2
}

function numbersOf(pages: readonly ReadPage[]): number[] {
  return pages.map(({ number }) => number)
}

function warningsOf(
  texts: ReadonlyMap<number, string>,
  languages: string,
  { blank, wordless, unread }: Record<'blank' | 'wordless' | 'unread', number[]>,
): string[] {
  const told: [string, readonly number[]][] = [
    [`Recognised as ${languages} print, so letters may be wrong and the layout is simplified`, [...texts.keys()]],
    ['Not recognised, since that would take too long: split the document', unread],
    ['Nothing was recognised on pages without text', wordless],
    ['Blank', blank],
  ]
  return told.flatMap(([what, pages]) => (pages.length === 0 ? [] : [`${what}: ${pageList(pages)}.`]))
}

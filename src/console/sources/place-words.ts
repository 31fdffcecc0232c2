import type { SourcePlace } from '../../contract/console-paths.ts'

/** As in `Page 5`, `Pages 5–9`, `12:30`. */
export function placeWords({ page, slide, sheet, time }: SourcePlace): string | undefined {
  if (page !== undefined) return spanWords('Page', page)
  if (slide !== undefined) return spanWords('Slide', slide)
  if (sheet !== undefined) return `Sheet ${sheet}`
  return time === undefined ? undefined : clock(Number(time))
}

function spanWords(word: string, span: string | number): string {
  const [first = '', last] = String(span).split('-')
  return last === undefined ? `${word} ${first}` : `${word}s ${first}–${last}`
}

function clock(seconds: number): string {
  const two = (count: number) => String(Math.floor(count)).padStart(2, '0')
  const [hours, minutes] = [seconds / 3600, (seconds % 3600) / 60]
  return hours < 1
    ? `${Math.floor(minutes)}:${two(seconds % 60)}`
    : `${Math.floor(hours)}:${two(minutes)}:${two(seconds % 60)}`
}

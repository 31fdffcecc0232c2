/** Where in a Source something stands, as a Neuron's reference to it has it. A span of pages or slides is `5-9`. */
type SourcePlace = {
  page?: string | number | undefined
  slide?: string | number | undefined
  sheet?: string | undefined
  /** Seconds. */
  time?: string | number | undefined
}

export function sourcesPage(kbSlug: string): string {
  return `/kb/${encodeURIComponent(kbSlug)}/sources`
}

/** A Source, at a place in its text if one is given. */
export function sourcePage(kbSlug: string, id: string, place: SourcePlace = {}): string {
  const path = `${sourcesPage(kbSlug)}/${encodeURIComponent(id)}`
  const found = keyOf(place)
  if (found === undefined) return path
  const [name, value] = found
  return `${path}?${name}=${encodeURIComponent(value)}#${placeId(place)}`
}

/** The id of the element where a place begins. */
export function placeId(place: SourcePlace): string | undefined {
  const found = keyOf(place)
  return found && `${found[0]}-${encodeURIComponent(found[1])}`
}

/** As in `Page 5`, `Pages 5–9`, `12:30`. */
export function placeWords({ page, slide, sheet, time }: SourcePlace): string | undefined {
  if (page !== undefined) return spanWords('Page', page)
  if (slide !== undefined) return spanWords('Slide', slide)
  if (sheet !== undefined) return `Sheet ${sheet}`
  return time === undefined ? undefined : clock(Number(time))
}

function keyOf({ page, slide, sheet, time }: SourcePlace): [name: string, value: string] | undefined {
  if (page !== undefined) return ['page', firstOf(page)]
  if (slide !== undefined) return ['slide', firstOf(slide)]
  if (sheet !== undefined) return ['sheet', sheet]
  return time === undefined ? undefined : ['time', String(Math.floor(Number(time)) || 0)]
}

function firstOf(span: string | number): string {
  return String(Number.parseInt(String(span), 10) || 1)
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

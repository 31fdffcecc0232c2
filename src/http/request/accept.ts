type MediaRange = { type: string; quality: number }

/**
 * True if a client prefers a media type to JSON by its `Accept` header (RFC 9110, section 12.5.1): it gives the type a higher quality, or
 * the same and names only the type. A tie prefers JSON.
 */
export function prefersToJson(mediaType: string, accept: string | undefined): boolean {
  const ranges = parseAccept(accept ?? '')
  const [quality, ofJson] = [qualityOf(mediaType, ranges), qualityOf('application/json', ranges)]
  const names = (name: string) => ranges.some(({ type }) => type === name)
  if (quality !== ofJson) return quality > ofJson
  return quality > 0 && names(mediaType) && !names('application/json')
}

/** True if a client accepts JSON by its `Accept` header. */
export function acceptsJson(accept: string | undefined): boolean {
  return !accept || qualityOf('application/json', parseAccept(accept)) > 0
}

/** Returns the quality of the most specific range that matches a media type without parameters; 0 if none does. */
function qualityOf(mediaType: string, ranges: readonly MediaRange[]): number {
  const group = `${mediaType.slice(0, mediaType.indexOf('/'))}/*`
  for (const wanted of [mediaType, group, '*/*']) {
    const fitting = ranges.filter(({ type }) => type === wanted)
    if (fitting.length > 0) return Math.max(...fitting.map(({ quality }) => quality))
  }
  return 0
}

/** Parses `Accept`. A parameter's value may be quoted, with commas and semicolons in it. An invalid quality counts as 0. */
function parseAccept(accept: string): MediaRange[] {
  return splitOutsideQuotes(accept, ',').flatMap((range) => {
    const [type = '', ...parameters] = splitOutsideQuotes(range, ';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    const quality = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0
    return type === '' ? [] : [{ type, quality }]
  })
}

function splitOutsideQuotes(text: string, separator: ',' | ';'): string[] {
  const part = separator === ',' ? /(?:"(?:\\.|[^"\\])*"?|[^",])+/g : /(?:"(?:\\.|[^"\\])*"?|[^";])+/g
  return text.match(part) ?? []
}

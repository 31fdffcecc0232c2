import { onePlainLine } from '../plain-text.ts'
import { ownPageLinkText, parseWikiLinkText } from './wiki-link-text.ts'

/** What may mean more than itself, and the two placeholders. */
const special = /[`*_[\]<&\\~\uE000\uE001]/
/** Less-than signs and ampersands that begin no HTML, no autolink and no character reference. */
const harmless = /<(?=[\s=]|$)|&(?=[\s=&]|$)/g
/** A code span, a wiki link, or a link or an image with nothing special in it. */
const token =
  /`([^`\s](?:[^`]*[^`\s])?)`|(!?)\[\[([^[\]\r\n]+)\]\]|!?\[(?!\^)([^`*_[\]<&\\~]*)\]\([^\s\p{Cc}()`[\]<\\]*\)/gu
/** Between blanks, or with punctuation after a last word: then no delimiter could both open and close. */
const emphasis =
  /(?<!\S)(\*\*?|__?)([^\s*_](?:[^*_]*[^\s*_])?)\1(?=\s|$)|(?<!\S)(\*\*?|__?)([^\s*_]?[^*_]*[\p{L}\p{N}])\3(?=[.,;:!?)])/gu
/** Within a word it emphasises nothing. */
const innerUnderscore = /(?<=[\p{L}\p{N}])_(?=[\p{L}\p{N}])/gu
/** An autolink takes all up to the next blank. */
const autolink = /:\/\/|@|www\./i
const tokenPlace = '\uE000'
const underscorePlace = '\uE001'

/**
 * What a reader sees of inline Markdown, if that is certain without a parser; `undefined` if it is not. Its lines begin with
 * no blank and are parted by line feeds, and the page has no definitions.
 */
export function scanInline(source: string): string | undefined {
  if (!special.test(source)) return withBreaks(source).trim()
  if (source.includes('``') || source.includes(tokenPlace) || source.includes(underscorePlace)) return undefined
  const shown: string[] = []
  const outside = source.replace(token, (whole: string, code?: string, mark?: string, wiki?: string, text?: string) => {
    const seen = wiki === undefined ? (code ?? text) : wikiLinkText(wiki, mark)
    if (seen === undefined) return whole
    shown.push(seen)
    return tokenPlace
  })
  const words = outside.replace(innerUnderscore, underscorePlace)
  if (autolink.test(words) && words.split(/\s/).some((word) => autolink.test(word) && special.test(word)))
    return undefined
  const bare = words.replace(
    emphasis,
    (_, _mark, first?: string, _other?: string, second?: string) => first ?? second ?? '',
  )
  if (special.test(bare.replace(harmless, '').replace(/[\uE000\uE001]/g, ''))) return undefined
  let next = 0
  return withBreaks(bare)
    .replace(/[\uE000\uE001]/g, (place) => (place === tokenPlace ? onePlainLine(shown[next++] ?? '') : '_'))
    .trim()
}

/** Two blanks at the end of a line break it. */
function withBreaks(text: string): string {
  return text.replace(/( *)\n/g, (_, blanks: string) => (blanks.length > 1 ? '\n' : ' '))
}

function wikiLinkText(inner: string, mark: string | undefined): string | undefined {
  const link = parseWikiLinkText(inner)
  if (!link) return ownPageLinkText(inner)
  return mark === '!' ? link.target : (link.alias ?? link.target)
}

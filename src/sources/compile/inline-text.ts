import { parseWikiLinkText } from '../../markdown/parse/wiki-link-text.ts'

const image = /!\[([^[\]]*)\]\([^()\s]*(?:\s"[^"]*")?\)/g
const link = /\[([^[\]]*)\]\([^()\s]*(?:\s"[^"]*")?\)/g
const wikiLink = /!?\[\[([^[\]]+)\]\]/g
const footnote = /\[\^[^[\]\s]+\]/g
const tag = /<\/?[a-z][^<>]*>/gi
const delimiters = /(?<![\p{L}\p{N}])[*_~]{1,3}(?=\S)|(?<=\S)[*_~]{1,3}(?![\p{L}\p{N}])/gu
const escaped = /\\([!-/:-@[-`{-~])/g
/** Placeholders for escaped characters, so that they are not taken for markup. */
const escapedPlace = /[\uE000-\uE07F]/g
const placeOffset = 0xe000

/**
 * Returns the approximate visible text of inline Markdown, on one line, in linear time. A parser would be exact, but hostile text could
 * slow it down. The result is used to count words and show sentences, and may be wrong for unusual markup.
 */
export function inlineText(source: string): string {
  return source
    .replace(escapedPlace, '')
    .replace(escaped, (_, character: string) => String.fromCharCode(placeOffset + character.charCodeAt(0)))
    .replace(/`/g, '')
    .replace(footnote, '')
    .replace(wikiLink, (whole, inner: string) => {
      const parsed = parseWikiLinkText(inner)
      return parsed === undefined ? whole : (parsed.alias ?? parsed.target)
    })
    .replace(image, '$1')
    .replace(link, '$1')
    .replace(tag, '')
    .replace(delimiters, '')
    .replace(escapedPlace, (place) => String.fromCharCode(place.charCodeAt(0) - placeOffset))
    .replace(/\s+/g, ' ')
    .trim()
}

/** Escapes text, so that it shows as it is in the middle of a line of Markdown. */
export function escapeInline(text: string): string {
  return text.replace(/[\\`*[\]<~|]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|&(?=[#\p{L}])/gu, '\\$&')
}

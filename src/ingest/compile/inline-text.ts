import { parseWikiLinkText } from '../../markdown/links/wiki-link-text.ts'

const image = /!\[([^[\]]*)\]\([^()\s]*(?:\s"[^"]*")?\)/g
const link = /\[([^[\]]*)\]\([^()\s]*(?:\s"[^"]*")?\)/g
const wikiLink = /!?\[\[([^[\]]+)\]\]/g
const footnote = /\[\^[^[\]\s]+\]/g
const tag = /<\/?[a-z][^<>]*>/gi
const delimiters = /(?<![\p{L}\p{N}])[*_~]{1,3}(?=\S)|(?<=\S)[*_~]{1,3}(?![\p{L}\p{N}])/gu
const escaped = /\\([!-/:-@[-`{-~])/g
/** A place for what was escaped, so that it is not taken for markup. */
const escapedPlace = /[\uE000-\uE07F]/g
const placeOffset = 0xe000

/**
 * About what a reader sees of inline Markdown, on one line, in time linear in it. A parser would be exact, but could be held up;
 * what this is for, words to count and sentences to show, may err where markup is strange.
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

/** Text as inline Markdown that shows it as it is; for the midst of a line. */
export function escapeInline(text: string): string {
  return text.replace(/[\\`*[\]<~|]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|&(?=[#\p{L}])/gu, '\\$&')
}

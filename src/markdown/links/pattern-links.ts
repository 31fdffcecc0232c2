import type { OwnPlaceLink } from '../../rules/check/checked-file.ts'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { closesFence } from '../../rules/text/fence.ts'
import { linesOf } from '../parse/split-blocks.ts'
import { addressBehind, ownPagePlace, parseWikiLinkText } from '../parse/wiki-link-text.ts'
import { htmlLinks } from './html-links.ts'
import { ownFragment, parseDestination } from './markdown-link.ts'

const fence = /^[\s>*+\-\d.)]*(`{3,}(?=[^`]*$)|~{3,})/
const codeOrMath = /(?<!`)(`+)(?!`)[^`]*(?<!`)\1(?!`)|(?<![\\$])\$(?![\s$])[^$]*(?<![\s\\])\$(?![\d$])/g
/** Matches a wiki link or a Markdown link. */
export const linkPattern = new RegExp(
  `(!?)(?:\\[\\[((?:[^[\\]]|\\[[^[\\]]*\\])+)\\]\\](?!${addressBehind.source})|\\[(?:[^[\\]]|\\[[^[\\]]*\\])*\\]\\(<?([^\\s<>()]+)>?\\))`,
  'gi',
)

/**
 * Finds links by pattern, line by line, in a text that is too complex to parse: outside of fences, and of code spans and math that end on
 * their line. Takes linear time.
 * @param line 1-based line of the page at which the text begins
 */
export function patternLinks(source: string, line: number): WikiLink[] {
  return [...linesOutsideFences(source)].flatMap(({ text, number }) =>
    [...linksInLine(text), ...htmlLinks(text).map(({ link }) => link)].map((link) => ({
      ...link,
      line: line + number - 1,
    })),
  )
}

/** Finds links to places of the page itself by pattern: `[[#Heading]]`, `[text](#heading)`. */
export function linksToOwnPlaces(source: string): OwnPlaceLink[] {
  if (!source.includes('#')) return []
  return [...linesOutsideFences(source)].flatMap(({ text, number: line }) =>
    Array.from(text.replace(codeOrMath, '').matchAll(linkPattern), ([, , wiki, url = '']): OwnPlaceLink[] => {
      const heading = wiki === undefined ? ownFragment(url) : ownPagePlace(wiki)
      return heading ? [{ heading, form: wiki === undefined ? 'markdown' : 'wiki', line }] : []
    }).flat(),
  )
}

function* linesOutsideFences(source: string): Generator<{ text: string; number: number }> {
  let code: string | undefined
  for (const [index, { text }] of linesOf(source).entries()) {
    const [, marker] = fence.exec(text) ?? []
    if (code !== undefined) code = closesFence(text.replace(/^[\s>]+/, ''), code) ? undefined : code
    else if (marker !== undefined) code = marker
    else yield { text, number: index + 1 }
  }
}

/** Finds the links of one line, or of a text in front matter, by pattern. */
export function linksInLine(text: string): Omit<WikiLink, 'line'>[] {
  const shown = text.replace(codeOrMath, '')
  return Array.from(shown.matchAll(linkPattern), ({ 1: mark, 2: wiki, 3: url, index }) => {
    if (isEscaped(shown, index)) return { parsed: undefined, embed: false }
    const embed = mark === '!'
    if (wiki !== undefined) return { parsed: parseWikiLinkText(wiki), embed }
    const destination = parseDestination(url ?? '')
    return { parsed: destination && { ...destination, form: 'markdown' as const }, embed }
  }).flatMap(({ parsed, embed }) => (parsed === undefined ? [] : [{ ...parsed, embed }]))
}

function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text.charAt(start - 1) === '\\') start--
  return (at - start) % 2 === 1
}

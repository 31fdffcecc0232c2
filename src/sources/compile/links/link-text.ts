import { type Line, splitBlocks } from '../../../markdown/parse/split-blocks.ts'
import { parseWikiLinkText } from '../../../markdown/parse/wiki-link-text.ts'
import { linkKey } from '../../../rules/links/link-target.ts'
import type { NameMention, NameTrie } from './name-trie.ts'

const wikiLink = /\[\[([^[\]\r\n]+)\]\]/g
/** A link whose name has no brackets, or else what opens one. */
const linkOrOpening = /\[\[([^[\]\r\n]+)\]\](?!\])|\[(\[+)/g
const heading = /^ {0,3}#{1,6}(?:[ \t]|$)/
const underline = /^ {0,3}(?:=+|-+)[ \t]*$/
/** Matches the characters of a table's delimiter row, with any quote or list markers before it. */
const delimiterRow = /^[\s>*+\-\d.)|:]+$/
/** Constructs that may contain a backtick or a bracket: escapes, HTML and autolinks, link destinations, definitions. */
const taking = /[\\<@]|\]\(|\]:|:\/\/|www\./i
const html = /<[a-z/!?]/i
const simpleDestination = /\]\([^\s()<>"'`\\]*\)/g
const address = /:\/\/|@|www\.|mailto:/i
/** Matches text before or behind which a link would become another construct, or none. */
const clashesBefore = /[\]![\\#$^]$/
const clashesAfter = /^[[(\\$]/
/**
 * Matches delimiters of emphasis. A bracket next to them can change whether they open or close it (CommonMark's left- and right-flanking
 * runs).
 */
const delimitersBefore = /([^\s*_~])([*_~]+)$/u
const delimitersAfter = /^([*_~]+)([^\s*_~])/u
/** Matches delimiters that fill all of the characters checked ({@link near}). */
const onlyDelimiters = /^[*_~]{8}$/
const wordCharacter = /[\p{L}\p{N}]/u
/** Number of characters before and after a mention that are checked. */
const near = 8

/**
 * Escapes wiki links that a Source must not forge: those to other knowledge bases and those with a type; if the Source is not
 * Markdown, all of them. They stay visible as text. Takes linear time, and uses no parser: what may be code is treated as text.
 */
export function withoutForgedLinks(content: string, keepsPlain: boolean): string {
  if (!content.includes('[[')) return content
  const disarm = (text: string) =>
    text.replace(linkOrOpening, (whole, inner: string | undefined, brackets: string) => {
      if (inner === undefined) return `[${brackets.replaceAll('[', '\\[')}`
      const link = parseWikiLinkText(inner)
      const stays = link === undefined || (keepsPlain && link.type === undefined && link.kb === undefined)
      return stays ? whole : `[\\${whole.slice(1)}`
    })
  const blocks = splitBlocks(content)
  if (blocks === undefined) return disarm(content)
  return splice(
    content,
    blocks.flatMap(({ lines, marker }) => {
      if (marker) return []
      const spans = codeSpans(lines) ?? []
      return lines.map(({ text, start, end }, index) => {
        const parts = cutOut(text, spans[index] ?? [])
        return { start, end, text: parts.map((part, at) => (at % 2 === 0 ? disarm(part) : part)).join('') }
      })
    }),
  )
}

/**
 * Adds a wiki link to the first mention of each Neuron, except those in `linked` (as returned by `linkKey`). Changes only text that is
 * certainly not code, a heading, or part of a link or URL. The rest stays the same, byte for byte.
 */
export function linkMentions(content: string, names: NameTrie, linked: ReadonlySet<string>): string {
  const seen = new Set(linked)
  for (const [, inner = ''] of content.matchAll(wikiLink)) seen.add(linkKey(parseWikiLinkText(inner)?.target ?? ''))
  const edits = (splitBlocks(content) ?? []).flatMap(({ lines, marker }) => {
    const places = marker ? undefined : textPlaces(lines)
    if (places === undefined) return []
    const block = lines.map(({ text }) => text).join('\n')
    let lineStart = 0
    const isTable = lines.some(({ text }) => delimiterRow.test(text))
    return lines.flatMap(({ text, start }, index) => {
      const at = lineStart
      lineStart += text.length + 1
      return mentionsIn(places[index] ?? '', names, { block, at }).flatMap((mention) => {
        const key = linkKey(mention.title)
        if (seen.has(key)) return []
        seen.add(key)
        const written = text.slice(mention.start, mention.end)
        const alias = written === mention.title ? '' : `${isTable ? '\\|' : '|'}${written}`
        return [{ start: start + mention.start, end: start + mention.end, text: `[[${mention.title}${alias}]]` }]
      })
    })
  })
  return splice(content, edits)
}

/** Returns the mentions in a line that can become links. `at`: offset of the line in the text of its block. */
function mentionsIn(masked: string, names: NameTrie, { block, at }: { block: string; at: number }): NameMention[] {
  return names.mentionsIn(masked).filter(({ start, end }) => !clashes(block, at + start, at + end))
}

/**
 * Whether brackets around `start` to `end` would be read as something other than a link, or would change how the text next to them is read.
 */
function clashes(block: string, start: number, end: number): boolean {
  const before = block.slice(Math.max(0, start - near), start)
  const after = block.slice(end, end + near)
  if (clashesBefore.test(before) || clashesAfter.test(after)) return true
  if (onlyDelimiters.test(before) || onlyDelimiters.test(after)) return true
  const [, outer = '', opening = ''] = delimitersBefore.exec(before) ?? []
  const [, closing = '', next = ''] = delimitersAfter.exec(after) ?? []
  if (wordCharacter.test(outer) || wordCharacter.test(next)) return true
  // Next to punctuation, delimiters could close emphasis opened before, or open emphasis closed after.
  const mayClose = opening !== '' && block.lastIndexOf(opening.slice(0, 1), start - opening.length - 1) >= 0
  const mayOpen = closing !== '' && block.includes(closing.slice(-1), end + closing.length)
  return mayClose || (mayOpen && !before.endsWith(closing))
}

/** Replaces everything but text by NUL in each line. Undefined if that cannot be decided for certain. */
function textPlaces(lines: readonly Line[]): string[] | undefined {
  const source = lines.map(({ text }) => text).join('\n')
  if (/ {4}|\t|\]:/.test(source) || html.test(source)) return undefined
  if (lines.some(({ text }) => underline.test(text))) return undefined
  if (source.replace(simpleDestination, '').includes('](')) return undefined
  const spans = codeSpans(lines)
  if (spans === undefined) return undefined
  const hide = (text: string) => '\0'.repeat(text.length)
  let depth = 0
  return lines.map(({ text }, index) => {
    const withoutCode = cutOut(text, spans[index] ?? [])
      .map((part, at) => (at % 2 === 0 ? part : hide(part)))
      .join('')
    const bare = withoutCode
      .replace(simpleDestination, (whole) => `]${hide(whole.slice(1))}`)
      .replace(/\S+/g, (run) => (address.test(run) ? hide(run) : run))
    let shown = ''
    for (const unit of bare.split('')) {
      if (unit === '[') depth++
      shown += depth > 0 ? '\0' : unit
      if (unit === ']' && depth > 0) depth--
    }
    return heading.test(text) ? hide(text) : shown
  })
}

/**
 * Returns the code spans of each line. Undefined unless they are certain: backticks are single and pair up on each line, and no
 * other construct can contain one.
 */
function codeSpans(lines: readonly Line[]): { start: number; end: number }[][] | undefined {
  if (!lines.some(({ text }) => text.includes('`'))) return lines.map(() => [])
  const isTable = lines.some(({ text }) => delimiterRow.test(text))
  const found: { start: number; end: number }[][] = []
  for (const { text } of lines) {
    if (text.includes('``') || (isTable && text.includes('`'))) return undefined
    const spans = Array.from(text.matchAll(/`[^`]+`/g), ({ 0: span, index }) => ({
      start: index,
      end: index + span.length,
    }))
    const outside = cutOut(text, spans)
      .filter((_, at) => at % 2 === 0)
      .join('`')
    if (outside.split('`').length - 1 !== spans.length) return undefined
    if (taking.test(outside) || /\[\[[^[\]]*`/.test(outside)) return undefined
    found.push(spans)
  }
  return found
}

/** Yields the text outside and inside of the ranges in turn. */
function cutOut(text: string, ranges: readonly { start: number; end: number }[]): string[] {
  const parts: string[] = []
  let at = 0
  for (const { start, end } of ranges) {
    parts.push(text.slice(at, start), text.slice(start, end))
    at = end
  }
  return [...parts, text.slice(at)]
}

function splice(content: string, edits: readonly { start: number; end: number; text: string }[]): string {
  let result = ''
  let at = 0
  for (const { start, end, text } of edits) {
    result += content.slice(at, start) + text
    at = end
  }
  return result + content.slice(at)
}

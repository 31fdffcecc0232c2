import { isInternal } from '../rules/access/audience.ts'
import { outsideCode, type TextLine } from './comments.ts'

/** Tag in a page's text, without its `#`, and the 1-based line of its first occurrence. */
export type InlineTag = { tag: string; line: number }

/** Maximum number of tags of a page. Tags that hide the page count beyond it. */
const maxTags = 500
const maxLength = 200

/**
 * Matches a tag as in Obsidian: letters, digits, signs of other scripts, emoji, `_`, `-` and `/`. It follows the start of a line, a
 * blank or punctuation, but nothing that would make it an escape, a character reference, or part of another tag or a path.
 */
const tag = /(?<![\p{L}\p{N}\p{M}\p{Extended_Pictographic}_/#&\\-])#([\p{L}\p{N}\p{M}\p{Extended_Pictographic}_/-]+)/gu
/** Matches a `#` that may begin a tag. Pages without one, as most with only headings, are not read line by line. */
const mayBegin = /#[\p{L}\p{N}\p{M}\p{Extended_Pictographic}_/-]/u
const onlyDigits = /^\p{N}*$/u
/** Matches constructs in which a `#` begins no tag: HTML tags, wiki links, Markdown links and images, destinations of definitions, and URLs. */
const notText =
  /<\/?[a-z][^<>]*>|!?\[\[[^[\]]*\]\]|!?\[[^[\]]*\](?:\([^()\s]*(?:[ \t]+"[^"]*")?\)|\[[^[\]]*\])|^\s{0,3}\[[^[\]]+\]:\s*\S+|\b(?:[a-z][a-z0-9+.-]{0,30}:\/\/|www\.)\S*/giu

/**
 * Returns the tags in a page's text in order, each spelling once: not in code, links, URLs, HTML and comments. Takes linear time and no
 * parser. Where a page is ambiguous, the reading with more tags wins, since a tag may hide the page.
 * @param content without comments; see `shownContent`
 */
export function inlineTags(content: string): InlineTag[] {
  if (!mayBegin.test(content)) return []
  const found = new Map<string, InlineTag>()
  for (const { text, line } of outsideHtmlComments([...outsideCode(content)])) {
    if (!text.includes('#')) continue
    for (const [, written = ''] of text.replace(notText, ' ').matchAll(tag)) {
      const name = written.replace(/^\/+|(?<!\/)\/+$/g, '')
      if (onlyDigits.test(name) || found.has(name)) continue
      const isKept = name.length <= maxLength && found.size < maxTags
      if (isKept) found.set(name, { tag: name, line })
      else if (isInternal([name])) found.set('internal', { tag: 'internal', line })
    }
  }
  return [...found.values()]
}

/** Yields lines without HTML comments. A comment that is never closed counts as text. */
function* outsideHtmlComments(lines: readonly TextLine[]): Generator<TextLine> {
  const lastLine = lines.findLastIndex(({ text }) => text.includes('-->'))
  let isOpen = false
  for (const [index, { text, line }] of lines.entries()) {
    const lastEnd = text.lastIndexOf('-->')
    let shown = ''
    for (let at = 0; at < text.length; ) {
      const next = text.indexOf(isOpen ? '-->' : '<!--', at)
      if (!isOpen) shown += text.slice(at, next < 0 ? undefined : next)
      if (next < 0) break
      at = next + (isOpen ? '-->' : '<!--').length
      isOpen = !isOpen && (index < lastLine || at <= lastEnd)
    }
    yield { text: shown, line }
  }
}

import { isInternal } from '../rules/access/audience.ts'
import { outsideCode, type TextLine } from './comments.ts'

/** A tag in a page's text, without its `#`, and the 1-based line on which it stands first. */
export type InlineTag = { tag: string; line: number }

/** Of one page. Tags that hide the page count beyond it, too. */
const maxTags = 500
const maxLength = 200

/**
 * After Obsidian: letters, digits, signs of other scripts, emoji, `_`, `-` and `/`. Before it stands the start of a line, a blank or
 * punctuation, but nothing that makes an escape, a character reference, another tag or a part of a path of it.
 */
const tag = /(?<![\p{L}\p{N}\p{M}\p{Extended_Pictographic}_/#&\\-])#([\p{L}\p{N}\p{M}\p{Extended_Pictographic}_/-]+)/gu
/** A `#` that may begin a tag: a page that has none, as one whose every `#` is a heading's, is not read line by line. */
const mayBegin = /#[\p{L}\p{N}\p{M}\p{Extended_Pictographic}_/-]/u
const onlyDigits = /^\p{N}*$/u
/**
 * What may hold a `#` that begins no tag: tags of HTML, wiki links, Markdown links and images, the destinations of
 * definitions, and addresses.
 */
const notText =
  /<\/?[a-z][^<>]*>|!?\[\[[^[\]]*\]\]|!?\[[^[\]]*\](?:\([^()\s]*(?:[ \t]+"[^"]*")?\)|\[[^[\]]*\])|^\s{0,3}\[[^[\]]+\]:\s*\S+|\b(?:[a-z][a-z0-9+.-]{0,30}:\/\/|www\.)\S*/giu

/**
 * The tags in a page's text, each spelling of a tag once, in their order: not in code, links, addresses, HTML and comments. Takes
 * linear time and no parser: where a page can be read in two ways, the reading with more tags counts, since a tag may hide it.
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

/** Lines without comments of HTML. One that nothing closes is none. */
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

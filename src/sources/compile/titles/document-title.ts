import { isWritableTarget } from '../../../markdown/rewrite/rewrite-links.ts'
import { atxHeading } from '../../../rules/text/atx-heading.ts'
import { oneLine } from '../../../rules/text/lines.ts'
import { shorten } from '../../../rules/text/literal.ts'
import { decodeEncodedWords } from '../../encoded-words.ts'
import { withoutOuterFormatSigns } from '../../format-signs.ts'
import { inlineText } from '../inline-text.ts'
import type { SourceBlock } from '../source-blocks.ts'
import { isAuthors, isGenericName, isPlaceholder } from './generic-names.ts'

/** Maximum UTF-16 units, and words, of a line that may be a title. */
const [longestLine, mostWords] = [120, 16]
/** Maximum blocks in which the title of a document is searched. */
const firstBlocks = 3
/** Maximum lines of a title on a printed page. */
const titleLines = 3
const suffix =
  /\.(?:docx?|docm|pptx?|xls[xm]?|od[tsp]|rtf|pdf|html?|md|txt|csv|tex|dvi|e?ps|indd|qxd|pages|key|numbers|epub|png|jpe?g|gif|webp|svg|tiff?|bmp)$/i
/** Matches the name of a file that was saved again, such as `abstract-final (7)`. */
const fileCopy = /^\S+[-_]\S* ?\(\d{1,3}\)$/
const printed = /\.(?:pdf|png|jpe?g|webp|gif|tiff?|bmp|heic)$/i

export type TitleSource = {
  own: string | undefined
  blocks: readonly SourceBlock[]
  filename: string
  /** True if a text is a running header or footer. */
  isRunning: (text: string) => boolean
}

/**
 * Returns the title of a document: from its metadata, from its first lines, or the file name without suffix. Placeholders of programs,
 * chapter labels, running headers and file names count only if there is nothing else.
 */
export function documentTitle({ own: given = '', blocks, filename, isRunning }: TitleSource): string {
  const own = decodeEncodedWords(given)
  const stem = stemOf(decodeEncodedWords(filename))
  const claimed = withoutProgram(own)
  const isTitle = (title: string) => title !== '' && !isPlaceholder(title) && !isAuthors(title) && !fileCopy.test(title)
  const isFileName = suffix.test(own) || /^\S*(?:_|\d{3})\S*$/.test(claimed) || stemOf(claimed) === stem
  const choices = [
    isFileName ? '' : claimed,
    headTitle(blocks),
    printed.test(filename) ? printedTitle(blocks) : '',
    shownTitle(blocks),
    isFileName ? stemOf(claimed) : '',
  ].filter(isTitle)
  const ranked = [...choices.filter((title) => !isRunning(title)), ...choices]
  return [...ranked, stem, filename].map((title) => linkableTitle(title)).find((title) => title !== '') ?? 'Untitled'
}

/** Returns the first line of a section's text if it can be its title, or else an empty text. */
function openingTitle(blocks: readonly SourceBlock[]): string {
  const [first] = blocks
  if (first === undefined || first.depth > 0 || first.kind !== 'paragraph' || first.lines.length > 1) return ''
  const text = inlineText(first.lines[0] ?? '').replace(/^\d+(?:\.\d+)*\.?\s+(?=\p{Lu})/u, '')
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const isLine = text.length <= longestLine && words.length <= mostWords && /^[\p{L}\p{N}"'“„«(¿¡]/u.test(text)
  const isText = letters >= 4 && letters >= text.replace(/\s/g, '').length * 0.6 && !/:\/\/|@|www\./.test(text)
  return isLine && isText && !/[.,;:…]$/.test(text) && !isGenericName(text) && !isAuthors(text) ? text : ''
}

/** Returns the name of a section whose heading is only a label: the heading below it, or the line that its text opens with. */
export function titleBelow(blocks: readonly SourceBlock[]): string {
  const [first] = blocks
  return first !== undefined && first.depth > 0 ? headingText(first.lines[0] ?? '') : openingTitle(blocks)
}

/** Returns the first heading, if no other has its level. */
function headTitle([first, ...others]: readonly SourceBlock[]): string {
  if (first === undefined || first.depth === 0) return ''
  return others.every(({ depth }) => depth === 0 || depth > first.depth) ? headingText(first.lines[0] ?? '') : ''
}

/**
 * Returns the headings at the top of a printed page as one title: they were found by font size alone, and a title may take several lines.
 */
function printedTitle(blocks: readonly SourceBlock[]): string {
  const from = blocks.slice(0, firstBlocks).findIndex(({ depth }) => depth > 0)
  if (from < 0) return ''
  const depth = blocks[from]?.depth
  const end = blocks.findIndex((block, at) => at > from && block.depth !== depth)
  const lines = blocks.slice(from, end < 0 ? undefined : end).slice(0, titleLines)
  const texts = lines.map((block) => headingText(block.lines[0] ?? ''))
  const byline = texts.findIndex(isAuthors)
  return (byline > 0 ? texts.slice(0, byline) : texts).join(' ')
}

/** Returns the first line as a title, or the text below a placeholder heading. */
function shownTitle([first, ...others]: readonly SourceBlock[]): string {
  if (first === undefined) return ''
  if (first.depth > 0) return isPlaceholder(headingText(first.lines[0] ?? '')) ? titleBelow(others) : ''
  const title = openingTitle([first])
  // A single word is a title only if it is all there is.
  return others.length === 0 || /\s|[^\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]{4}/u.test(title) ? title : ''
}

/** Removes the words that programs put before the name of the file that they printed. */
function withoutProgram(title: string): string {
  return title
    .replace(/^Microsoft (?:Word|Excel|PowerPoint|Publisher|Visio|Outlook|Works) - /i, '')
    .replace(suffix, '')
    .trim()
}

/** Returns the name of a file without its suffix, with blanks for separators. */
function stemOf(filename: string): string {
  const stem = filename
    .replace(/\.[^.\s]{1,5}$/, '')
    .replace(/(?:%20|[_+\s])+/g, ' ')
    .trim()
  // Hyphens are kept in a name of several words. Between digits they may be part of a date.
  return stem.includes(' ') ? stem : stem.replace(/(?<!\d)-+|-+(?!\d)/g, ' ').trim()
}

/** Maximum characters of a heading that are used; the rest stays in the text. */
const maxLength = 1000

const numbering = /^(?:\d{1,3}(?:\.\d{1,3})+\.?|\d{1,3}[.)]|[IVXL]{1,6}\.|[A-Z]\.)\s+(?=[\p{L}\p{N}"'“„(])/u
const bareNumber = /^(\d{1,2})\s+(?=\p{L})/u

/** Returns the plain text of an ATX heading's line, without numbering such as `3.1`. Empty if the line is only markup. */
export function headingText(line: string): string {
  const { text = '' } = atxHeading(line.slice(0, maxLength)) ?? {}
  return oneLine(inlineText(text), maxLength).replace(numbering, '')
}

/** Whether the headings are numbered without a dot, as in `3 Methods`. A single such number may belong to its heading's words. */
export function hasBareNumbers(texts: Iterable<string>): boolean {
  const numbers = new Set<string | undefined>()
  for (const text of texts) numbers.add(bareNumber.exec(text)?.[1])
  return numbers.has('1') && numbers.has('2')
}

export function withoutBareNumber(text: string): string {
  return text.replace(bareNumber, '')
}

/** Maximum UTF-16 units of a title, which must fit into a wiki link. */
export const maxTitle = 200

const replacements: Readonly<Record<string, string>> = { '[': '(', ']': ')', '|': '/', '\\': '/' }
/** Full-width forms of `#` and `:`, which search and links treat as equal (NFKD) but which have no meaning in a link. */
const wideHash = '＃'
const wideColon = '：'

/** Returns a title of at most `max` UTF-16 units that can be the target of a wiki link; empty if nothing visible is left. */
export function linkableTitle(text: string, max = maxTitle): string {
  const bare = withoutOuterFormatSigns(oneLine(text, text.length)).replace(
    /[[\]|\\]/g,
    (sign) => replacements[sign] ?? ' ',
  )
  const title = shorten(bare.replaceAll('#', wideHash), max)
  if (title === '' || isWritableTarget(title)) return title
  return title.replaceAll(':', wideColon)
}

import { unixLines } from './line-endings.ts'
import { oneLine } from './lines.ts'

const shownUnits = 200

/** Matches invisible characters and those that reorder text, except line feeds and tabs. */
const invisible = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Returns untrusted text as a Markdown code span in which nothing is markup, a mention or a link. One line of at most 200 UTF-16 units. */
export function literal(text: string): string {
  const line = shorten(visible(oneLine(text, shownUnits + 1)), shownUnits)
  if (line === '') return '*(nothing)*'
  const fence = fenceFor(line, 1)
  // The space separates a backtick from the fence and is not rendered (CommonMark 6.1).
  const space = /^`|`$/.test(line) ? ' ' : ''
  return `${fence}${space}${line}${space}${fence}`
}

/** Returns untrusted lines as a fenced code block that nothing in them can close. */
export function literalBlock(text: string, language: string): string {
  const shown = visible(unixLines(text))
  const fence = fenceFor(shown, 3)
  return `${fence}${language}\n${shown}${shown.endsWith('\n') ? '' : '\n'}${fence}`
}

function visible(text: string): string {
  return text.replace(invisible, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}

function fenceFor(text: string, least: number): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
  return '`'.repeat(Math.max(least, longest + 1))
}

/** Returns a text on one line, cut to `max` UTF-16 units with `…` at its end. */
export function shorten(text: string, max: number): string {
  const line = oneLine(text, max)
  return line.length < oneLine(text, text.length).length ? `${oneLine(line, max - 1)}…` : line
}

/** Escapes a line (CommonMark 2.4) so that Markdown, GFM and wiki links show it as it is. */
export function escapeMarkdown(line: string): string {
  return line.replace(/[\\`*_[\]<>&#!|~$:@]/g, '\\$&')
}

/** Returns a wiki link to a Neuron with its title as the label, whatever the title contains. */
export function neuronLink({ seqId, title }: { seqId: string; title: string }, maxTitle: number): string {
  // Nothing can be escaped between the brackets of a wiki link.
  const label = shorten(title, maxTitle)
    .replace(/[[\]|]/g, ' ')
    .replace(/ +/g, ' ')
    .trim()
  return label === '' ? `[[${seqId}]]` : `[[${seqId}|${label}]]`
}

import { shorten } from './inert-text.ts'
import { oneLine } from './lines.ts'

const shownUnits = 200

/** What shows nothing, or changes the order of what is shown; line feeds and tabs aside. */
const invisible = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Text that somebody else wrote, as a Markdown code span: nothing in it can be markup, a mention or a link. One line, 200
 * UTF-16 units at most.
 */
export function literal(text: string): string {
  const line = shorten(visible(oneLine(text, shownUnits + 1)), shownUnits)
  if (line === '') return '*(nothing)*'
  const fence = fenceFor(line, 1)
  // Not shown (CommonMark 6.1): it keeps a backtick at an end apart from the fence.
  const space = /^`|`$/.test(line) ? ' ' : ''
  return `${fence}${space}${line}${space}${fence}`
}

/** Lines that somebody else wrote, as a fenced code block that nothing in them ends. */
export function literalBlock(text: string, language: string): string {
  const shown = visible(text.replace(/\r\n?/g, '\n'))
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

import { shorten } from './inert-text.ts'
import { oneLine } from './lines.ts'

const shownUnits = 200

/** Invisible characters and those that reorder text, except line feeds and tabs. */
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

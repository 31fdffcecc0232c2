import type { LineEnding } from '../../rules/text/line-endings.ts'

/**
 * Returns the content of a body. A file is front matter, one blank line, content, one newline. The content lacks exactly these two line
 * ends, if present, so that any content survives a round trip byte for byte. `contentStart` is an offset in the body.
 */
export function splitBody(body: string, eol: LineEnding): { content: string; contentStart: number } {
  const contentStart = /^\r?\n/.exec(body)?.[0].length ?? 0
  const rest = body.slice(contentStart)
  const newline = rest.endsWith(eol) ? eol.length : Number(rest.endsWith('\n'))
  return { content: rest.slice(0, rest.length - newline), contentStart }
}

export function joinBody(content: string, eol: LineEnding): string {
  return eol + content + eol
}

/**
 * Replaces the content of a body and keeps its form: with or without the blank line before and the newline after it. Uses the normal form
 * if the body had no content, or if the new content would not survive the round trip.
 */
export function replaceContent(body: string, content: string, eol: LineEnding): string {
  const { content: old, contentStart } = splitBody(body, eol)
  const replaced = body.slice(0, contentStart) + content + body.slice(contentStart + old.length)
  const isSound = old !== '' && splitBody(replaced, eol).content === content
  return isSound ? replaced : joinBody(content, eol)
}

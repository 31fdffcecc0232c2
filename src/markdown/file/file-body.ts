import type { LineEnding } from '../../rules/text/line-endings.ts'

/**
 * A file is front matter, one blank line, content, one newline. The content of a body lacks exactly these two line ends, where
 * they are there, so that any content comes back byte for byte. `contentStart` is an offset in the body.
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
 * The body with another content, in the form that it had: with the blank line before it and the newline after it, or without.
 * In the usual form where it had no content, or where the new one would not come back byte for byte.
 */
export function replaceContent(body: string, content: string, eol: LineEnding): string {
  const { content: old, contentStart } = splitBody(body, eol)
  const replaced = body.slice(0, contentStart) + content + body.slice(contentStart + old.length)
  const isSound = old !== '' && splitBody(replaced, eol).content === content
  return isSound ? replaced : joinBody(content, eol)
}

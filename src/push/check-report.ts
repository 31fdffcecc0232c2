import type { Finding } from '../rules/neurons/neuron.ts'
import { compareText } from '../rules/text/lines.ts'

const maxLines = 50
const maxLineLength = 500
/** Characters that a terminal could take for a command, that are invisible, or that reorder the text. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Formats findings for the pusher's terminal: `path:line: reason`, errors first. Shows at most 50, and the number of the others.
 * Escapes control, invisible and bidi characters.
 */
export function formatFindings(findings: readonly Finding[]): string[] {
  const rank = ({ severity }: Finding) => Number(severity === 'warning')
  const inOrder = [...findings].sort((a, b) => rank(a) - rank(b) || compareText(a.path, b.path) || a.line - b.line)
  const lines = inOrder.slice(0, maxLines).map(formatFinding)
  const more = inOrder.length - lines.length
  return more > 0 ? [...lines, `… and ${more} more.`] : lines
}

function formatFinding({ severity, path, line, message }: Finding): string {
  const place = path === '' ? '' : `${escapeUnsafe(path)}:${line}: `
  const kind = severity === 'warning' ? 'warning: ' : ''
  return place + kind + escapeUnsafe(message)
}

function escapeUnsafe(text: string): string {
  const cut = text.length > maxLineLength ? `${text.slice(0, maxLineLength)}…` : text
  return cut.replace(unsafe, (character) => {
    const digits = (character.codePointAt(0) ?? 0).toString(16).toUpperCase()
    return `\\u{${digits}}`
  })
}

import type { Finding } from '../../knowledge/neuron.ts'
import { compareText } from '../../knowledge/text/text.ts'

const maxLines = 50
const maxLineLength = 500
/** What a terminal could take for a command, and what would not show or reorder the rest. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Findings as the pusher's terminal shows them: `path:line: reason`, errors first, 50 at the most and how many more there are.
 * Control, invisible and bidi characters are escaped.
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

import { oneLine } from './lines.ts'

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

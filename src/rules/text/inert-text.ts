import { oneLine } from './lines.ts'

/** Text on one line, with `…` at its end where it was longer than `max` UTF-16 units. */
export function shorten(text: string, max: number): string {
  const line = oneLine(text, max)
  return line.length < oneLine(text, text.length).length ? `${oneLine(line, max - 1)}…` : line
}

/** A line as the text that it is (CommonMark 2.4), also where GFM or a wiki link would make something of it. */
export function escapeMarkdown(line: string): string {
  return line.replace(/[\\`*_[\]<>&#!|~$:@]/g, '\\$&')
}

/** A wiki link to a Neuron under its title, whatever the title holds. */
export function neuronLink({ seqId, title }: { seqId: string; title: string }, maxTitle: number): string {
  // Between the brackets of a wiki link nothing can be escaped.
  const label = shorten(title, maxTitle)
    .replace(/[[\]|]/g, ' ')
    .replace(/ +/g, ' ')
    .trim()
  return label === '' ? `[[${seqId}]]` : `[[${seqId}|${label}]]`
}

import type { Anchor } from '../../extracted.ts'
import { plainLine } from '../markdown/as-inline-markdown.ts'
import type { Transcript } from './transcribe.ts'

/** Seconds of speech in a paragraph. */
const paragraphLength = 60

export type Chapter = { time: number; title: string }

/** Paragraphs of about a minute, each with its time, below chapters. */
export function writeTranscript(
  { text, segments }: Transcript,
  chapters: readonly Chapter[],
): { lines: string[]; anchors: Anchor[] } {
  const lines: string[] = []
  const anchors: Anchor[] = []
  const add = (block: string, time: number | undefined) => {
    anchors.push({ line: lines.length + 1, ...(time === undefined ? {} : { time: Math.floor(time) }) })
    lines.push(block, '')
  }
  if (segments.length === 0) {
    for (const paragraph of text.split(/\n\s*\n/).map(plainLine)) if (paragraph !== '') add(paragraph, undefined)
    return { lines, anchors }
  }
  const rest = [...chapters]
  let paragraph: { time: number; texts: string[] } | undefined
  const endParagraph = () => {
    if (paragraph !== undefined)
      add(`[${clock(paragraph.time)}] ${plainLine(paragraph.texts.join(' '))}`, paragraph.time)
    paragraph = undefined
  }
  for (const segment of segments.toSorted((a, b) => a.start - b.start)) {
    if (segment.text.trim() === '') continue
    for (let next = rest[0]; next !== undefined && next.time <= segment.start; next = rest[0]) {
      endParagraph()
      add(`## ${plainLine(next.title)}`, next.time)
      rest.shift()
    }
    if (paragraph !== undefined && segment.start - paragraph.time >= paragraphLength) endParagraph()
    paragraph ??= { time: segment.start, texts: [] }
    paragraph.texts.push(segment.text)
  }
  endParagraph()
  return { lines, anchors }
}

/** Returns `mm:ss`, or `h:mm:ss` from an hour. */
export function clock(time: number): string {
  const seconds = Math.floor(time)
  const pad = (part: number) => String(part).padStart(2, '0')
  const minutes = `${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`
  return seconds < 3600 ? minutes : `${Math.floor(seconds / 3600)}:${minutes}`
}

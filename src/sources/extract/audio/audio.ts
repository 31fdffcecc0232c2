import type { IAudioMetadata } from 'music-metadata'
import { type Anchor, type ExtractInput, type Extraction, ExtractionError } from '../../extracted.ts'
import { plainLine } from '../markdown/escape-markdown.ts'
import { type Transcript, transcribe } from './transcribe.ts'

/** Seconds of speech in a paragraph. */
const paragraphLength = 60

type Chapter = { time: number; title: string }

/** Timeout in milliseconds. */
const timeout = 30 * 60_000
const maxChapters = 1_000

/**
 * Returns the transcript of a recording, in paragraphs of about a minute, below its chapters if it has any. Without a transcriber the text
 * is empty.
 * @throws {ExtractionError}
 */
export async function extractAudio(input: ExtractInput): Promise<Extraction> {
  const metadata = await readMetadata(input)
  if (input.transcriber === undefined) {
    const settings = 'GANGLION_TRANSCRIBER_URL and GANGLION_TRANSCRIBER_MODEL'
    const message = `A recording needs a transcriber to become text: set ${settings}, then ingest again.`
    throw new ExtractionError('not-configured', message)
  }
  const transcript = await transcribe(input, input.transcriber, AbortSignal.timeout(timeout))
  const { lines, anchors } = writeTranscript(transcript, chaptersOf(metadata))
  if (anchors.length === 0) throw new ExtractionError('empty', 'The transcriber heard no speech in the recording.')
  const facts = factsOf(metadata)
  const head = facts === '' ? [] : [facts, '']
  return {
    title: metadata.common.title?.trim() || undefined,
    markdown: [...head, ...lines].join('\n').trimEnd(),
    anchors: anchors.map(({ line, time }) => ({ line: line + head.length, ...(time === undefined ? {} : { time }) })),
    warnings: transcript.segments.length > 0 ? [] : ['The transcriber told no times.'],
    shown: undefined,
  }
}

async function readMetadata({ file, fileType }: ExtractInput): Promise<IAudioMetadata> {
  const { parseFile } = await import('music-metadata')
  let metadata: IAudioMetadata
  try {
    metadata = await parseFile(file, { duration: true, skipCovers: true, includeChapters: true })
  } catch (cause) {
    throw new ExtractionError('wrong-type', `The content of the file is no ${fileType} recording.`, { cause })
  }
  if (metadata.format.container === undefined && metadata.format.codec === undefined) {
    throw new ExtractionError('wrong-type', `The content of the file is no ${fileType} recording.`)
  }
  return metadata
}

function factsOf({ common, format }: IAudioMetadata): string {
  const { artist, album, year } = common
  return [
    ...(artist ? [`Artist: ${plainLine(artist)}`] : []),
    ...(album ? [`Album: ${plainLine(album)}`] : []),
    ...(year ? [`Year: ${year}`] : []),
    ...(format.duration ? [`Duration: ${clock(format.duration)}`] : []),
  ].join(' · ')
}

function chaptersOf({ format }: IAudioMetadata): Chapter[] {
  return (format.chapters ?? [])
    .slice(0, maxChapters)
    .map(({ title, start, timeScale = 1000 }) => ({ title: title.trim(), time: start / timeScale }))
    .filter(({ title, time }) => title !== '' && Number.isFinite(time) && time >= 0)
    .sort((a, b) => a.time - b.time)
}

/** Paragraphs of about a minute, each with its time, below chapters. */
function writeTranscript(
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
function clock(time: number): string {
  const seconds = Math.floor(time)
  const pad = (part: number) => String(part).padStart(2, '0')
  const minutes = `${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`
  return seconds < 3600 ? minutes : `${Math.floor(seconds / 3600)}:${minutes}`
}

import type { IAudioMetadata } from 'music-metadata'
import { type Extracted, type ExtractInput, ExtractionError } from '../../extracted.ts'
import { plainLine } from '../markdown/as-inline-markdown.ts'
import { transcribe } from './transcribe.ts'
import { type Chapter, clock, writeTranscript } from './transcript-text.ts'

/** Milliseconds. */
const timeout = 30 * 60_000
const maxChapters = 1_000

/**
 * The transcript of a recording, in paragraphs of about a minute, below its chapters where it has some. Without a transcriber it
 * has no text. @throws {ExtractionError}
 */
export async function extractAudio(input: ExtractInput): Promise<Extracted> {
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

import { ExtractionError, type Extractor } from '../../extracted.ts'
import { writeTranscript } from '../audio/transcript-text.ts'
import { readText } from '../encoding/read-text.ts'
import { collapse } from '../html/hast.ts'

const timing = /^\s*((?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3})\s+-->\s+(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}/
const speaker = /^<v(?:\.[^\s>]*)?\s+([^>]{1,100})>/
const markup = /<[^<>\n]{0,200}>|\{\\[^{}\n]{0,100}\}/g
const entities = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&nbsp;', ' '],
  ['&lrm;', ''],
  ['&rlm;', ''],
])

/** `start` is in seconds. */
type Cue = { start: number; speaker: string | undefined; text: string }

/** Subtitles (WebVTT, SubRip): paragraphs of about a minute with their times, and who speaks where a cue says so. */
export const extractSubtitles: Extractor = async ({ file, fileType }) => {
  const { text, doubts } = await readText(file)
  if (fileType === 'vtt' && !/^WEBVTT(?:\s|$)/.test(text)) {
    throw new ExtractionError('wrong-type', 'The file is not WebVTT: it does not begin with WEBVTT.')
  }
  const segments = withoutRepeats(cuesOf(text))
  if (segments.length === 0) throw new ExtractionError('empty', 'The file has no subtitles.')
  const { lines, anchors } = writeTranscript({ text: '', segments }, [])
  return { title: undefined, markdown: lines.join('\n').trimEnd(), anchors, warnings: [], doubts }
}

/** A cue is a line of its times and the lines below it, up to a blank one. */
function cuesOf(text: string): Cue[] {
  const cues: Cue[] = []
  let lines: string[] | undefined
  let start = 0
  const end = () => {
    if (lines !== undefined) {
      const name = speaker.exec(lines[0] ?? '')?.[1]?.trim()
      cues.push({ start, speaker: name, text: collapse(lines.map(plain).join(' ')) })
    }
    lines = undefined
  }
  for (const line of text.split('\n')) {
    const time = timing.exec(line)?.[1]
    if (time !== undefined) {
      end()
      start = secondsOf(time)
      lines = []
    } else if (line.trim() === '') end()
    else lines?.push(line)
  }
  end()
  return cues.filter((cue) => cue.text !== '')
}

function secondsOf(time: string): number {
  return time
    .replace(',', '.')
    .split(':')
    .reduce((sum, part) => sum * 60 + Number(part), 0)
}

function plain(line: string): string {
  return line.replace(markup, '').replace(/&\w{2,4};/g, (entity) => entities.get(entity) ?? entity)
}

/** Live captions roll: each cue says again what the one before it said. Who speaks is told where that changes. */
function withoutRepeats(cues: readonly Cue[]): { start: number; text: string }[] {
  let before: Cue | undefined
  return cues.flatMap((cue) => {
    const { start, speaker: name, text } = cue
    const added = before !== undefined && text.startsWith(before.text) ? text.slice(before.text.length).trim() : text
    const prefix = name === undefined || name === before?.speaker ? '' : `${name}: `
    before = cue
    return added === '' ? [] : [{ start, text: prefix + added }]
  })
}

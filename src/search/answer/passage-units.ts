import { linesOf } from '../../markdown/parse/split-blocks.ts'
import { atxHeading } from '../../rules/text/atx-heading.ts'
import { closesFence, fenceMarker } from '../../rules/text/fence.ts'
import { type Range, type Sentence, sentencesOf } from '../../rules/text/sentences.ts'

/** Unit that a passage is cut into, as a range of UTF-16 units: a sentence, a list item, a table row, or code. */
export type PassageUnit = Range & {
  /** Unit needed to understand this one: the heading, the sentence that introduces a list or code, or the head of a table. */
  lead: PassageUnit | undefined
}

const item = /^\s*(?:[-*+]|\d{1,9}[.)])\s/
/** Maximum characters of a sentence; a longer one is divided between words. */
const longest = 400
const words = new Intl.Segmenter('und', { granularity: 'word' })
const dashes = /^[\s|:-]+$/

/** Returns the units of a chunk's Markdown, in order. The reading is approximate: whatever is misread is still text of the chunk. */
export function passageUnits(content: string, language: string): PassageUnit[] {
  const units: PassageUnit[] = []
  let heading: PassageUnit | undefined
  let announced: PassageUnit | undefined
  let head: PassageUnit | undefined
  let paragraph: Range | undefined
  const add = (range: Range, lead = announced ?? heading) => {
    const unit = { ...range, lead }
    units.push(unit)
    return unit
  }
  const endParagraph = () => {
    if (paragraph === undefined) return
    const { start, end } = paragraph
    paragraph = undefined
    announced = undefined
    // A line break does not end a sentence.
    for (const sentence of sentencesOf(content.slice(start, end).replace(/[\r\n]/g, ' '), language)) {
      for (const part of partsOf(sentence)) add({ start: start + part.start, end: start + part.end })
    }
    if (/[:：]$/.test(content.slice(start, end).trimEnd())) announced = units.at(-1)
  }
  const lines = linesOf(content)
  for (let at = 0; at < lines.length; at++) {
    const { text: line, ...range } = lines[at] ?? { text: '', start: 0, end: 0 }
    const marker = fenceMarker(line.trimStart())
    const isRow = line.trimStart().startsWith('|')
    if (!isRow) head = undefined
    const last = units.at(-1)
    if (marker === undefined && !isRow && !item.test(line) && atxHeading(line) === undefined && line.trim() !== '') {
      // A continuation line of a list item.
      if (paragraph === undefined && last !== undefined && last !== heading && /^\s/.test(line)) last.end = range.end
      else paragraph = { start: paragraph?.start ?? range.start, end: range.end }
      continue
    }
    endParagraph()
    if (marker !== undefined) {
      do at++
      while (at < lines.length && !closesFence(lines[at]?.text.trim() ?? '', marker))
      add({ start: range.start, end: lines[at]?.end ?? content.length })
    } else if (isRow && head !== undefined) {
      // A separator row, or a row of empty cells, belongs to the head.
      if (last === head && dashes.test(line)) head.end = range.end
      else add(range, head)
    } else if (isRow) head = add(range)
    else if (item.test(line)) add(range)
    else if (line.trim() !== '') {
      announced = undefined
      heading = add(range, undefined)
    }
  }
  endParagraph()
  return units
}

/** Divides a long sentence between words. Thai text, for example, has no full stops. */
function partsOf({ start, end, text }: Sentence): Range[] {
  if (text.length <= longest) return [{ start, end }]
  const parts: Range[] = []
  let from = 0
  for (const { index, segment } of words.segment(text)) {
    if (index + segment.length - from <= longest || index === from || segment.trim() === '') continue
    parts.push({ start: start + from, end: start + index })
    from = index
  }
  return [...parts, { start: start + from, end }]
}

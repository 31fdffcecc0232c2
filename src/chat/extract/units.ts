import { sentencesOf } from '../../rules/text/sentences.ts'
import type { Passage } from '../../search/search-index.ts'
import type { Analyser } from '../../search/text/analyser.ts'
import { type AnswerBlock, blocksOf } from './blocks.ts'
import { isProse, shownText, withoutLooseEmphasis } from './shown-text.ts'

/** Maximum characters of a unit's text, and of code. */
const maxText = 800
const maxCode = 2000
/** Maximum characters of a list item quoted whole; a longer one is quoted by sentence. */
const maxItem = 400
/** Maximum units of one answer's passages. */
const maxUnits = 2000

/** Unit that an answer quotes whole: a sentence, a list item, a table row, or code. */
export type Unit = Pick<AnswerBlock, 'kind' | 'text' | 'marker'> & {
  passage: Passage
  /** Number of the block, over all passages. */
  block: number
  /** Index among all units. */
  position: number
  /** Terms with a space before, between and after. */
  terms: string
  /** Terms of the comments in code; empty for text. */
  comments: string
  /** Terms of the page's title and of the headings above. */
  context: string
  /** Page's title and the headings above, outermost first. */
  path: readonly string[]
  /** Terms of the title alone. */
  title: string
  /** Terms of the innermost heading, or of the title if there is none. */
  heading: string
  /** Sentence that introduces a list, a table or code. */
  lead: Unit | undefined
  /** True for the first unit below its heading. */
  isFirst: boolean
  /** Terms of a question that an item begins with: `Is it free?: Yes.` in a list of definitions. */
  posed: string
}

export function quotableUnits(passages: readonly Passage[], analyser: Analyser, language: string): Unit[] {
  const units: Unit[] = []
  let block = 0
  for (const passage of passages) {
    const title = termsOf(passage.title, analyser)
    let lead: Unit | undefined
    for (const { kind, text, marker, headings } of blocksOf(passage.content)) {
      block++
      const path = [passage.title, ...passage.headings, ...headings]
      const context = termsOf(path.join('\n'), analyser)
      const posed = kind === 'item' ? termsOf(/^.{8,200}?\?(?=[:*_]|\s-)/.exec(text)?.[0] ?? '', analyser).trim() : ''
      const heading = termsOf(path.at(-1) ?? '', analyser)
      if (lead?.context !== context) lead = undefined
      if (kind !== 'code' && !isProse(text)) continue
      const isLong = kind === 'paragraph' || (kind === 'item' && text.length > maxItem)
      for (const part of isLong ? quotableSentences(text, language) : [text]) {
        const bounded =
          kind === 'code'
            ? part.length <= maxCode
              ? part
              : `${part.slice(0, maxCode).toWellFormed()}…`
            : withoutLooseEmphasis(cut(part, maxText))
        const terms = termsOf(kind === 'code' ? bounded : shownText(bounded), analyser)
        if (terms.trim() === '') continue
        const position = units.length
        const before = units.at(-1)
        const isFirst = before?.passage !== passage || before.context !== context
        const announced = kind === 'paragraph' ? undefined : lead
        const unit = {
          kind,
          marker,
          text: bounded,
          passage,
          block,
          position,
          terms,
          comments: kind === 'code' ? termsOf(commentsOf(bounded), analyser) : '',
          context,
          path,
          title,
          heading,
          lead: announced,
          isFirst,
          posed: posed && ` ${posed} `,
        }
        units.push(unit)
        if (units.length === maxUnits) return units
      }
      if (kind === 'paragraph') lead = units.at(-1)
    }
  }
  return units
}

/** Returns the heading above a unit, to be quoted before it. */
export function headingOf(unit: Unit): Unit {
  const text = unit.path.at(-1) ?? ''
  return { ...unit, kind: 'paragraph', marker: '', text, terms: unit.heading, block: -1, position: unit.position - 0.5 }
}

/** Returns the sentences of a block. A sentence does not end within a link or code. */
function quotableSentences(text: string, language: string): string[] {
  const sentences: string[] = []
  let from: number | undefined
  let taken = 0
  for (const { start, end: stop } of sentencesOf(text, language)) {
    from ??= Math.max(start, taken)
    const end = stop + closingMarks(text.slice(0, stop), text.slice(stop, stop + 3))
    const sentence = text.slice(from, end)
    taken = end
    if (isOpen(sentence)) continue
    sentences.push(sentence)
    from = undefined
  }
  return from === undefined ? sentences : [...sentences, text.slice(from)]
}

/** Returns the length of closing emphasis marks after a sentence: `**May I?** Yes.` is two sentences. */
function closingMarks(before: string, after: string): number {
  const [marks = ''] = /^(?:\*\*|__|~~|==|\*|_)(?=\s|$)/.exec(after) ?? []
  return marks !== '' && before.split(marks).length % 2 === 0 ? marks.length : 0
}

function isOpen(text: string): boolean {
  return text.split('`').length % 2 === 0 || /\[[^[\]]*$|\]\([^()]*$/.test(text)
}

/** Returns the comments in code, on their own lines or after a statement. */
function commentsOf(code: string): string {
  return code
    .split('\n')
    .flatMap((line) => /(?:^|\s)(?:#|\/\/|--|;)\s+(?<comment>.*)$/.exec(line)?.groups?.comment ?? [])
    .join('\n')
}

function termsOf(text: string, analyser: Analyser): string {
  const terms = analyser.tokens(text).flatMap(({ term, also }) => [term, ...also])
  return ` ${terms.join(' ')} `
}

/** True if terms contain a term or phrase. */
export function holds(terms: string, term: string): boolean {
  return terms.includes(` ${term} `)
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const begin = text.slice(0, max).toWellFormed()
  const isOpen = begin.split('`').length % 2 === 0
  return `${isOpen ? begin.slice(0, begin.lastIndexOf('`')) : begin}…`
}

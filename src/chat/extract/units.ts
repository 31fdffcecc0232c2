import { sentencesOf } from '../../rules/text/sentences.ts'
import type { Passage } from '../../search/answer/passage.ts'
import type { Analyser } from '../../search/text/analyser.ts'
import { type AnswerBlock, blocksOf } from './blocks.ts'
import { withoutLooseEmphasis } from './emphasis.ts'
import { isProse, shownText } from './shown-text.ts'

/** Characters of a unit's text; of code. */
const maxText = 800
const maxCode = 2000
/** A longer item of a list is quoted by sentence. */
const maxItem = 400
/** Units that are read of one answer's passages. */
const maxUnits = 2000

/** What an answer quotes whole: a sentence, an item of a list, a row of a table, or code. */
export type Unit = Pick<AnswerBlock, 'kind' | 'text' | 'marker'> & {
  passage: Passage
  /** Counts the blocks of all passages. */
  block: number
  /** Its place among all units. */
  position: number
  /** Analysed, with a space before, between and after. */
  terms: string
  /** The terms of the comments in code; of a text, none. */
  comments: string
  /** The terms of its page's title and of the headings that it stands under. */
  context: string
  /** Its page's title and the headings that it stands under, outermost first. */
  path: readonly string[]
  /** The terms of the title alone. */
  title: string
  /** Those of the innermost heading, of the title where there is none. */
  heading: string
  /** What announces it: a sentence before a list, a table or code. */
  lead: Unit | undefined
  /** Whether it is the first of what stands under its heading. */
  isFirst: boolean
  /** The terms of the question that an item begins with: `Is it free?: Yes.` in a list of definitions. */
  posed: string
}

export function answerUnits(passages: readonly Passage[], analyser: Analyser, language: string): Unit[] {
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

/** The heading that a unit stands under, to be quoted before it. */
export function headingOf(unit: Unit): Unit {
  const text = unit.path.at(-1) ?? ''
  return { ...unit, kind: 'paragraph', marker: '', text, terms: unit.heading, block: -1, position: unit.position - 0.5 }
}

/** The sentences of a block; one does not end within a link or code, whatever marks stand there. */
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

/** The length of the marks after a sentence that end an emphasis: `**May I?** Yes.` is two sentences. */
function closingMarks(before: string, after: string): number {
  const [marks = ''] = /^(?:\*\*|__|~~|==|\*|_)(?=\s|$)/.exec(after) ?? []
  return marks !== '' && before.split(marks).length % 2 === 0 ? marks.length : 0
}

function isOpen(text: string): boolean {
  return text.split('`').length % 2 === 0 || /\[[^[\]]*$|\]\([^()]*$/.test(text)
}

/** The lines of code that are comments, and what stands behind a statement. */
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

/** Whether terms hold one, or a phrase of several. */
export function holds(terms: string, term: string): boolean {
  return terms.includes(` ${term} `)
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const begin = text.slice(0, max).toWellFormed()
  const isOpen = begin.split('`').length % 2 === 0
  return `${isOpen ? begin.slice(0, begin.lastIndexOf('`')) : begin}…`
}

import type { Passage } from '../search/passage.ts'
import type { Analyser } from '../search/text/analyser.ts'
import { sentencesOf } from '../search/text/sentences.ts'
import { type Block, blocksOf } from './blocks.ts'
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
export type Unit = Pick<Block, 'kind' | 'text' | 'marker'> & {
  passage: Passage
  /** Counts the blocks of all passages. */
  block: number
  /** Its place among all units. */
  position: number
  /** Analysed, with a space before, between and after. */
  terms: string
  /** The terms of its page's title and of the headings that it stands under. */
  context: string
  /** Those of the title alone. */
  title: string
}

/** The units of the passages, in their order. */
export function unitsOf(passages: readonly Passage[], analyser: Analyser, language: string): Unit[] {
  const units: Unit[] = []
  let block = 0
  for (const passage of passages) {
    const title = termsOf(passage.title, analyser)
    const context = termsOf([passage.title, ...passage.headings].join('\n'), analyser)
    for (const { kind, text, marker } of blocksOf(passage.content)) {
      block++
      if (kind !== 'code' && !isProse(text)) continue
      const isLong = kind === 'paragraph' || (kind === 'item' && text.length > maxItem)
      for (const part of isLong ? quotableSentences(text, language) : [text]) {
        const bounded = kind === 'code' ? cut(part, maxCode) : withoutLooseEmphasis(cut(part, maxText))
        const terms = termsOf(kind === 'code' ? bounded : shownText(bounded), analyser)
        if (terms.trim() === '') continue
        units.push({ kind, marker, text: bounded, passage, block, position: units.length, terms, context, title })
        if (units.length === maxUnits) return units
      }
    }
  }
  return units
}

/** The sentences of a block; one does not end within a link or code, whatever marks stand there. */
function quotableSentences(text: string, language: string): string[] {
  const sentences: string[] = []
  let from: number | undefined
  for (const { start, end } of sentencesOf(text, language)) {
    from ??= start
    const sentence = text.slice(from, end)
    if (isOpen(sentence)) continue
    sentences.push(sentence)
    from = undefined
  }
  return from === undefined ? sentences : [...sentences, text.slice(from)]
}

function isOpen(text: string): boolean {
  return text.split('`').length % 2 === 0 || /\[[^[\]]*$|\]\([^()]*$/.test(text)
}

/** A text's terms as one text: ` page on call lead `. */
function termsOf(text: string, analyser: Analyser): string {
  const terms = analyser.tokens(text).flatMap(({ term, also }) => [term, ...also])
  return ` ${terms.join(' ')} `
}

/** Whether terms hold one, or a phrase of several. */
export function holds(terms: string, term: string): boolean {
  return terms.includes(` ${term} `)
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`
}

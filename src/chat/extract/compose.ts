import { safeQuote } from '../answer-filter.ts'
import { withoutCitations } from '../citations.ts'
import type { Unit } from './units.ts'

/** Maximum characters of an answer. A unit that would exceed it is left out, with all that follow. */
const maxAnswer = 9000

/** Writes units as Markdown, in pieces that joined are the answer. A citation follows each unit; in a paragraph, its last sentence. */
export function compose(units: readonly Unit[]): string[] {
  const pieces: string[] = []
  let length = 0
  for (const [index, unit] of units.entries()) {
    const isPlain = units.every(({ block, text }) => block !== unit.block || hasPlainCode(text))
    const piece = separator(units[index - 1], unit) + quote(unit, units[index + 1], isPlain)
    length += piece.length
    if (length > maxAnswer) break
    pieces.push(piece)
  }
  const last = units[pieces.length - 1]
  if (last && goesOn(last, units[pieces.length])) pieces.push(` ${citationOf(last)}`)
  return pieces
}

function separator(before: Unit | undefined, unit: Unit): string {
  if (before === undefined) return ''
  if (before.passage !== unit.passage) return '\n\n'
  if (before.block === unit.block && unit.kind === 'paragraph') return ' '
  return isListed(before) && isListed(unit) ? '\n' : '\n\n'
}

function quote(unit: Unit, after: Unit | undefined, isPlain: boolean): string {
  const citation = citationOf(unit)
  if (unit.kind === 'code') return `${safeQuote(fenced(unit))}\n\n${citation}`
  const text = safeText(unit.text.replace(/^(?:`{3,}|~{3,})/, ''), isPlain).trim()
  const announces = after?.passage === unit.passage && after.kind !== 'paragraph' && text.endsWith(':')
  if (goesOn(unit, after)) return text
  return unit.marker + (announces ? `${text.slice(0, -1)} ${citation}:` : `${text} ${citation}`)
}

/** Placeholder for a span of code. */
const held = '\ue000'

/** True if all Markdown parsers see the same code spans in a text: no escaped, longer or unpaired backticks. */
function hasPlainCode(text: string): boolean {
  const runs = text.match(/\\?`+/g) ?? []
  return runs.length % 2 === 0 && runs.every((run) => run === '`') && !text.includes(held)
}

/** Makes a text safe to quote. Unambiguous code spans stay as written; otherwise their content is shown as text. */
function safeText(text: string, isPlain: boolean): string {
  const spans: string[] = []
  const prose = text.replace(/(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)/g, (span, _mark, code: string) => {
    if (isPlain ? withoutCitations(span) !== span : safeQuote(span) !== span)
      return code.replace(/[<!`[]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    if (!isPlain) return span
    spans.push(span)
    return held
  })
  return safeQuote(prose.replaceAll('\\<', '&lt;')).replaceAll(held, () => spans.shift() ?? '')
}

function fenced({ text, marker }: Unit): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const mark = '`'.repeat(longest + 1)
  return `${mark}${marker}\n${text}\n${mark}`
}

/** True if the next unit is the next sentence of the paragraph. */
function goesOn({ kind, block, position }: Unit, after: Unit | undefined): boolean {
  return kind === 'paragraph' && after?.block === block && after.position === position + 1
}

function citationOf({ passage }: Unit): string {
  return `[${passage.seqId}]`
}

function isListed({ kind }: Unit): boolean {
  return kind === 'item' || kind === 'row'
}

import { safeQuote } from '../answer-filter.ts'
import type { Unit } from './units.ts'

/** Characters of an answer; a unit that reaches beyond it is left out, with all that follow. */
const maxAnswer = 9000

/** The units as Markdown, in pieces that joined are the answer. A citation follows each, of a paragraph its last sentence. */
export function compose(units: readonly Unit[]): string[] {
  const pieces: string[] = []
  let length = 0
  for (const [index, unit] of units.entries()) {
    const piece = separator(units[index - 1], unit) + quote(unit, units[index + 1])
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

function quote(unit: Unit, after: Unit | undefined): string {
  const citation = citationOf(unit)
  if (unit.kind === 'code') return `${safeQuote(fenced(unit))}\n\n${citation}`
  const text = safeQuote(withoutCodeMarkup(unit.text.replace(/^(?:`{3,}|~{3,})/, ''))).trim()
  const announces = after?.passage === unit.passage && after.kind !== 'paragraph' && text.endsWith(':')
  if (goesOn(unit, after)) return text
  return unit.marker + (announces ? `${text.slice(0, -1)} ${citation}:` : `${text} ${citation}`)
}

/** What a span of code shows, as text, where to be quoted as code it would have to lose markup: `<br>`. */
function withoutCodeMarkup(text: string): string {
  return text.replace(/(`+)([^`\n]+)\1/g, (span, _mark, code: string) =>
    safeQuote(span) === span ? span : code.replaceAll('<', '&lt;').replaceAll('!', '&#33;').replaceAll('[', '&#91;'),
  )
}

function fenced({ text, marker }: Unit): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const mark = '`'.repeat(longest + 1)
  return `${mark}${marker}\n${text}\n${mark}`
}

/** Whether the next unit is the next sentence of a unit's paragraph. */
function goesOn({ kind, block, position }: Unit, after: Unit | undefined): boolean {
  return kind === 'paragraph' && after?.block === block && after.position === position + 1
}

function citationOf({ passage }: Unit): string {
  return `[${passage.seqId}]`
}

function isListed({ kind }: Unit): boolean {
  return kind === 'item' || kind === 'row'
}

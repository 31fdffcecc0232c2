import { LRUCache } from 'lru-cache'
import { atxHeading } from '../../rules/text/atx-heading.ts'
import { closesFence, fenceMarker } from '../../rules/text/fence.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { escapeMarkdown } from '../../rules/text/literal.ts'
import { type PassageUnit, passageUnits } from '../../search/answer/passage-window.ts'
import type { Passage } from '../../search/search-index.ts'
import { type Analyser, analyserFor } from '../../search/text/analyser.ts'
import { safeQuote } from '../answer-filter.ts'
import type { Question } from '../answerer.ts'
import { withoutCitations } from '../citations.ts'
import { isWholeQuestion, questionContext } from '../conversation.ts'
import { type Extract, refusalIn } from '../refused-answer.ts'
import { asksWhether, limits, mismatchWith } from './answer-forms.ts'
import { askedPairs, askedWords, isEnglish, questionsIn, spacedTerms } from './asked-question.ts'
import { quotableMarkdown } from './quotable-markdown.ts'

/** Minimum score of an answer; below it, the nearest passages follow a refusal. `docs/benchmarks.md` has its curve. */
export const minScore = 1.85
/** Maximum passages to read: lower ranks do not contain the answer. */
export const maxPassagesRead = 10
const maxQuotations = 3
/** Maximum difference of a further quotation's score from the best. */
const maxGap = 0.8
/** Maximum characters to which a unit is extended by its neighbours. */
const maxLength = 600
/** Share of a word's weight if only the title or a heading has it. */
const aboveShare = 0.7
/** Minimum share of the best unit's words in a unit that limits it, for this unit to be quoted, too. */
const sameSubject = 0.6

/** Maximum UTF-16 units of passages whose units are cached: questions often share their best passages. */
const maxKept = 2 * 2 ** 20

/** Sentence, list item, table row or code of a passage that can be quoted. */
type ReadUnit = PassageUnit & {
  /** Visible text of the passage. */
  shown: string
  text: string
  terms: string
  /** Title of the page and headings above, outermost first, and the terms of all and of the last one. */
  path: readonly string[]
  above: string
  heading: string
  /** Number of the section in the passage. */
  section: number
}
/** `section`, `position`: numbers of the section and of the unit over all passages. */
type Unit = ReadUnit & { passage: Passage; position: number }
type ScoredUnit = { unit: Unit; score: number; own: number }
/** Consecutive units, as Markdown with their introduction. */
type Quotation = { first: Unit; last: Unit; text: string }

/** Quotes the passages that cover a question. If none does, quotes the nearest ones below a refusal. */
export default function extractPassages(question: Question): Extract {
  const { message, history, language } = question
  const analyser = analyserFor(language)
  // The ranks belong to a search that included the earlier questions, so a question that stands alone ignores them.
  const rank = isWholeQuestion(message) ? { rank: 1 } : {}
  const passages = question.passages.slice(0, maxPassagesRead).map((passage) => ({ ...passage, ...rank }))
  const units = unitsOf(passages, analyser, language)
  const asked = questionsIn(message, language, analyser)
  const found = asked.map((part, at) => {
    const turns = [...history, ...asked.slice(0, at).map((earlier) => ({ question: earlier, answer: '' }))]
    const texts = isWholeQuestion(part) ? [part] : questionContext(part, turns, analyser)
    const scored = scoreUnits(texts, units, analyser, question)
    return { part, score: scored[0]?.score ?? 0, quotations: quotationsOf(scored, units, isEnglish(language)) }
  })
  const answered = found.filter(({ score }) => score >= minScore)
  const refused = answered.length === 0 ? [] : found.filter(({ score }) => score < minScore)
  const all = (answered.length === 0 ? found : answered).flatMap(({ quotations }) => quotations)
  const shown = all.filter((one, at) => all.findIndex((other) => overlap(one, other)) === at)
  const quoted = shown.map((one, at) => compose(one, shown[at - 1]))
  const refusals = refused.map(({ part }) => `\n\n**${escapeMarkdown(oneLine(part, 200))}** ${refusalIn(language)}`)
  return {
    score: Math.max(...found.map(({ score }) => score)),
    isAnswer: answered.length > 0,
    isPartial: refused.length > 0,
    pieces: [...quoted, ...refusals],
    seqIds: [...new Set(shown.map(({ first }) => first.passage.seqId))],
  }
}

const unitsOfPassages = new LRUCache<string, ReadUnit[]>({
  ...{ maxSize: maxKept, sizeCalculation: (_: ReadUnit[], key: string) => key.length },
})

function unitsOf(passages: readonly Passage[], analyser: Analyser, language: string): Unit[] {
  const units: Unit[] = []
  for (const passage of passages) {
    const { title, headings, content } = passage
    const key = JSON.stringify([language, title, headings, content])
    const known = unitsOfPassages.get(key) ?? readUnits(passage, analyser, language)
    unitsOfPassages.set(key, known)
    const before = units.at(-1)?.section ?? 0
    for (const unit of known) {
      units.push({ ...unit, passage, section: before + unit.section, position: units.length })
    }
  }
  return units
}

function readUnits({ title, headings: above, content }: Passage, analyser: Analyser, language: string): ReadUnit[] {
  const units: ReadUnit[] = []
  const shown = quotableMarkdown(content)
  let headings: { level: number; text: string }[] = []
  const sectionOf = (number: number) => {
    const path = [title, ...above, ...headings.map(({ text }) => text)]
    const [all, last] = [path.join('\n'), path.at(-1) ?? ''].map((text) => spacedTerms(text, analyser))
    return { path, above: all ?? '', heading: last ?? '', section: number }
  }
  let section = sectionOf(1)
  for (const range of passageUnits(shown, language)) {
    const text = shown.slice(range.start, range.end)
    const heading = atxHeading(text)
    if (heading !== undefined) {
      headings = [...headings.filter(({ level }) => level < heading.level), heading]
      section = sectionOf(section.section + 1)
    } else if (/[\p{L}\p{N}]/u.test(text)) {
      const said = /^\s*(?:`{3}|~{3})/.test(text) ? commentsIn(text) : text
      const terms = spacedTerms(`${leadsOf({ ...range, shown })}\n${said}`, analyser)
      units.push({ ...range, shown, text, terms, ...section })
    }
  }
  return units
}

/** Returns the comments in code, on their own lines or after a statement. */
function commentsIn(code: string): string {
  return Array.from(code.matchAll(/(?:^|\s)(?:#|\/\/|--|;)[ \t]+(.*)$/gm), ([, comment]) => comment).join('\n')
}

/** Scores units, best first. @param texts the question, then the earlier ones that it refers to */
function scoreUnits(texts: readonly string[], units: readonly Unit[], analyser: Analyser, question: Question) {
  const [message = ''] = texts
  const words = askedWords(texts, question, analyser)
  const total = words.reduce((sum, { weight }) => sum + weight, 0)
  if (total === 0) return []
  const pairs = askedPairs(message, analyser)
  const [mismatches, isWhether] = isEnglish(question.language)
    ? [mismatchWith(message), asksWhether(message)]
    : [() => false, false]
  const asked = new Set(words.flatMap(({ terms }) => terms))
  /** Returns the share of the question's words in `text`. A word that is only in `others` counts less. */
  const cover = (text: string, others = '') => {
    const isIn = (place: string, terms: string[]) => terms.some((term) => place.includes(` ${term} `))
    const part = (terms: string[]) => (isIn(text, terms) ? 1 : isIn(others, terms) ? aboveShare : 0)
    return words.reduce((sum, { terms, weight }) => sum + weight * part(terms), 0) / total
  }
  const fits = new Map<number, number>()
  const scored = units.map((unit): ScoredUnit => {
    const fit = fits.getOrInsertComputed(unit.section, () => {
      const names = unit.heading.trim().split(' ')
      return (cover(unit.heading) * names.filter((term) => asked.has(term)).length) / names.length
    })
    const next = units[unit.position + 1]
    const near = next?.section === unit.section ? next.text : ''
    const isWrong = mismatches([leadsOf(unit), unit.text, near, unit.path.at(-1)].join('\n'))
    const own = cover(unit.terms)
    const limiting = isWhether && limits(unit.text) ? own : 0
    const adjacent = pairs.filter((pair) => unit.terms.includes(` ${pair} `)).length / Math.max(1, pairs.length)
    const kin = 0.4 * adjacent + 0.6 * fit + 0.4 * limiting
    return { unit, own, score: cover(unit.terms, unit.above) + unit.passage.rank + kin - Number(isWrong) }
  })
  return scored.sort((a, b) => b.score - a.score)
}

/** Returns the best units with their neighbours, and the unit of the same page that limits the best one, if any. */
function quotationsOf(scored: readonly ScoredUnit[], units: readonly Unit[], isEnglish: boolean): Quotation[] {
  const quotations: Quotation[] = []
  const add = ({ unit }: ScoredUnit) => {
    const isQuoted = quotations.some((one) => one.text.includes(unit.text) || overlap(one, { first: unit, last: unit }))
    if (!isQuoted) quotations.push(extend(unit, units))
  }
  const [best] = scored
  if (best === undefined) return []
  add(best)
  const limiting = scored.find(
    ({ unit, own }) =>
      unit.passage.seqId === best.unit.passage.seqId && own >= sameSubject * best.own && limits(unit.text),
  )
  if (isEnglish && limiting && !limits(quotations[0]?.text ?? '')) add(limiting)
  for (const one of scored) if (quotations.length < maxQuotations && one.score >= best.score - maxGap) add(one)
  return quotations
}

/** Extends a unit by its neighbours in the section, those after it first. */
function extend(unit: Unit, units: readonly Unit[]): Quotation {
  let [first, last] = [unit, unit]
  const fits = (from: Unit | undefined, to: Unit | undefined) =>
    from !== undefined && to?.section === from.section && to.end - from.start <= maxLength
  for (let next = units[last.position + 1]; next && fits(first, next); next = units[last.position + 1]) last = next
  for (let next = units[first.position - 1]; next && fits(next, last); next = units[first.position - 1]) first = next
  const leads = leadsOf(first)
  const text = unit.shown.slice(first.start, last.end)
  const indent = /^[ \t]*/.exec(text)?.[0] ?? ''
  const separator = leads === '' ? '' : first.text.trimStart().startsWith('|') ? '\n' : '\n\n'
  return { first, last, text: withClosedFence(leads + separator + text.trimStart().replaceAll(`\n${indent}`, '\n')) }
}

/** Closes a code block or span that the page leaves open, which would otherwise include the text after the quotation. */
function withClosedFence(text: string): string {
  let open: string | undefined
  for (const line of text.split(/\r?\n/)) {
    if (open === undefined) open = fenceMarker(line.replace(/^ {0,3}/, ''))
    else if (closesFence(line, open)) open = undefined
  }
  return open === undefined ? text : `${text.trimEnd()}\n${open}`
}

/** Returns the introduction of a unit: the sentence before a list or code, the head of a table. */
function leadsOf({ lead, shown }: Pick<Unit, 'lead' | 'shown'>): string {
  const text = lead === undefined ? '' : shown.slice(lead.start, lead.end)
  if (lead === undefined || atxHeading(text) !== undefined) return ''
  return [leadsOf({ lead: lead.lead, shown }), text].join('\n\n').trim()
}

function overlap(one: Pick<Quotation, 'first' | 'last'>, other: Pick<Quotation, 'first' | 'last'>): boolean {
  return one.first.position <= other.last.position && other.first.position <= one.last.position
}

/** Writes a quotation as Markdown, with its citation, below its heading unless the one before has the same. */
function compose({ first, last, text }: Quotation, before: Quotation | undefined): string {
  const names = first.path.filter((name, at) => name !== first.path[at - 1])
  const place = names.map((name) => escapeMarkdown(oneLine(withoutCitations(name), 200))).join(' › ')
  const heading = before?.first.section === first.section ? '' : `**${place}**\n\n`
  const isBlock = /^\s*(?:`{3}|~{3}|\|)/.test(last.text)
  return `${before === undefined ? '' : '\n\n'}${heading}${safeQuote(text)}${isBlock ? '\n\n' : ' '}[${first.passage.seqId}]`
}

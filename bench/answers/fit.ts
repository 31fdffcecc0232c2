import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Answerer, Question } from '../../src/chat/answerer.ts'
import { type Asked, askedBy } from '../../src/chat/extract/asked.ts'
import { compose } from '../../src/chat/extract/compose.ts'
import { maxPassages, minScore } from '../../src/chat/extract/extract-answerer.ts'
import { type Features, features, featuresOf, scoreOf, type Weights } from '../../src/chat/extract/features.ts'
import { quotedFor } from '../../src/chat/extract/quoting.ts'
import { type ScoredUnit, selectUnits } from '../../src/chat/extract/select-units.ts'
import { quotableUnits, type Unit } from '../../src/chat/extract/units.ts'
import { analyserFor } from '../../src/search/text/analyser.ts'
import { judge } from './judge.ts'
import { Manual } from './manual.ts'
import { type Answerable, questionSets, setFor } from './question-set.ts'

/** A question with the passages that chat found for it. */
type Recorded = {
  manual: string
  right?: Pick<Answerable, 'says' | 'pages'>
  question: Question
}
type Candidate = { unit: Unit; features: Features; x: Float64Array; isRight: boolean }
type Case = Pick<Recorded, 'manual' | 'right'> & { asked: Asked; units: Unit[]; candidates: Candidate[] }

/** Regularization of a logistic regression's squared weights, for features with a standard deviation of one. */
const ridge = 5
const rounds = 150
const thresholds = [-1, -0.5, 0, 0.5, 1, 1.5, 2]
/** The manuals are left out in so many groups. */
const groups = 6

/**
 * Fits the weights of the answerer without a language model (`src/chat/extract/weights.ts`) to the questions on the manuals in
 * folders: the likelihood that a softmax over all units, and over none of them, gives to those whose quotation is right. Tells
 * what they give by the least score of an answer, each manual left out in its turn. `ANSWERS_RECORDED` names a file that keeps
 * what chat found; `ANSWERS_LANGUAGE=und` fits those of other languages.
 */
export async function benchFit(folders: readonly string[]): Promise<string[]> {
  const cases = (await record(folders)).map(caseOf)
  const names = [...new Set(cases.map(({ manual }) => manual))]
  const groupOf = ({ manual }: Case) => names.indexOf(manual) % groups
  const held = Array.from({ length: groups }).flatMap((_, group) => {
    const weights = fitted(cases.filter((one) => groupOf(one) !== group))
    return cases.filter((one) => groupOf(one) === group).map((one) => outcome(one, weights))
  })
  return [
    JSON.stringify(fitted(cases)),
    '',
    '| least score | questions | right | wrong or in part | refused | unanswerable | refused |',
    '|---|---|---|---|---|---|---|',
    ...thresholds.map((least) => row(String(least), held, least)),
    ...names.map((name) =>
      row(
        name,
        held.filter(({ manual }) => manual === name),
        minScore.english,
      ),
    ),
  ]
}

async function record(folders: readonly string[]): Promise<Recorded[]> {
  const file = process.env.ANSWERS_RECORDED ?? ''
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  const found: Recorded[] = []
  const recorder: Answerer = {
    async *answer(question) {
      const last = found.at(-1)
      if (last !== undefined) last.question = question
      yield '-'
      return { text: '-', cited: [], answeredBy: '-' }
    },
  }
  const all = questionSets()
  for (const { set, folder } of folders.map((folder) => setFor(folder, all))) {
    const manual = await Manual.import(folder)
    for (const { ask, ...right } of [...set.answerable, ...set.unanswerable]) {
      const question: Question = {
        message: ask,
        history: [],
        passages: [],
        tone: null,
        audience: 'tool',
        language: 'en',
        synonyms: [],
      }
      found.push({ manual: set.manual, question, ...('says' in right ? { right } : {}) })
      await manual.ask(recorder, ask)
    }
    await manual.close()
  }
  if (file !== '') writeFileSync(file, JSON.stringify(found))
  return found
}

function caseOf({ manual, right, question }: Recorded): Case {
  const analyser = analyserFor('en')
  const units = quotableUnits(question.passages.slice(0, maxPassages), analyser, 'en')
  const asked = askedBy([question.message], units, analyser, {
    language: process.env.ANSWERS_LANGUAGE ?? 'en',
    synonyms: [],
  })
  const candidates = featuresOf(asked, units).flatMap((known, at) => {
    const unit = units[at]
    if (unit === undefined || known === undefined || known.own + known.near + known.heading < 0.15) return []
    const quoted = quotedFor(unit, units, asked.kind)
    const isRight =
      right !== undefined && judge(right, { text: textOf(quoted), paths: [unit.passage.path] }) === 'right'
    return { unit, features: known, x: Float64Array.from(features, (name) => known[name]), isRight }
  })
  return { manual, ...(right && { right }), asked, units, candidates }
}

function textOf(units: readonly Unit[]): string {
  return compose([...new Set(units)].sort((a, b) => a.position - b.position)).join('')
}

type Outcome = { manual: string; score: number; isAnswerable: boolean; isRight: boolean }

function outcome({ manual, right, asked, units, candidates }: Case, weights: Weights): Outcome {
  const scored: ScoredUnit[] = candidates
    .map(({ unit, features }) => ({ unit, score: scoreOf(features, weights) }))
    .sort((a, b) => b.score - a.score)
  const chosen = selectUnits(scored, units, asked)
  const paths = chosen.map(({ passage }) => passage.path)
  const isRight = right !== undefined && judge(right, { text: compose(chosen).join(''), paths }) === 'right'
  return { manual, score: scored[0]?.score ?? Number.NEGATIVE_INFINITY, isAnswerable: right !== undefined, isRight }
}

function row(name: string, outcomes: readonly Outcome[], least: number): string {
  const answerable = outcomes.filter(({ isAnswerable }) => isAnswerable)
  const said = answerable.filter(({ score }) => score >= least)
  const right = said.filter(({ isRight }) => isRight).length
  const others = outcomes.filter(({ isAnswerable }) => !isAnswerable)
  const refused = others.filter(({ score }) => score < least).length
  const cells = [
    name,
    answerable.length,
    right,
    said.length - right,
    answerable.length - said.length,
    others.length,
    refused,
  ]
  return `| ${cells.join(' | ')} |`
}

/** Fits weights by gradient ascent (Adam, Kingma and Ba 2015) on standardized features. */
function fitted(some: readonly Case[]): Weights {
  const all = some.flatMap(({ candidates }) => candidates)
  const mean = features.map((_, at) => average(all, ({ x }) => x[at] ?? 0))
  const deviation = features.map(
    (_, at) => Math.sqrt(average(all, ({ x }) => ((x[at] ?? 0) - (mean[at] ?? 0)) ** 2)) || 1,
  )
  const width = features.length + 1
  const scaled = new Float64Array(all.length * width).fill(1)
  for (const [row, { x }] of all.entries()) {
    for (let at = 0; at + 1 < width; at++)
      scaled[row * width + at] = ((x[at] ?? 0) - (mean[at] ?? 0)) / (deviation[at] ?? 1)
  }
  const weights = new Float64Array(width)
  weights[width - 1] = -3
  const odds = new Float64Array(all.length)
  const [speed, square] = [new Float64Array(width), new Float64Array(width)]
  for (let round = 1; round <= rounds; round++) {
    const slope = weights.map((weight, at) => (at + 1 === width ? 0 : -ridge * weight))
    let begin = 0
    for (const { candidates } of some) {
      const end = begin + candidates.length
      let [sum, right] = [1, 0]
      for (let row = begin; row < end; row++) {
        let score = 0
        for (let at = 0; at < width; at++) score += (scaled[row * width + at] ?? 0) * (weights[at] ?? 0)
        const odd = Math.exp(score)
        odds[row] = odd
        sum += odd
        if (all[row]?.isRight) right += odd
      }
      for (let row = begin; row < end; row++) {
        const odd = odds[row] ?? 0
        const pull = (all[row]?.isRight ? odd / right : 0) - odd / sum
        for (let at = 0; at < width; at++) slope[at] = (slope[at] ?? 0) + pull * (scaled[row * width + at] ?? 0)
      }
      begin = end
    }
    for (let at = 0; at < width; at++) {
      speed[at] = 0.9 * (speed[at] ?? 0) + 0.1 * (slope[at] ?? 0)
      square[at] = 0.99 * (square[at] ?? 0) + 0.01 * (slope[at] ?? 0) ** 2
      const step = (speed[at] ?? 0) / (1 - 0.9 ** round) / (Math.sqrt((square[at] ?? 0) / (1 - 0.99 ** round)) + 1e-9)
      weights[at] = (weights[at] ?? 0) + (0.15 / Math.sqrt(1 + round / 30)) * step
    }
  }
  const unscaled = features.map((_, at) => (weights[at] ?? 0) / (deviation[at] ?? 1))
  const bias = unscaled.reduce((sum, weight, at) => sum - weight * (mean[at] ?? 0), weights[width - 1] ?? 0)
  const rounded = features.map((name, at) => [name, Number((unscaled[at] ?? 0).toFixed(2))] as const)
  return { bias: Number(bias.toFixed(2)), ...Object.fromEntries(rounded) }
}

function average<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0) / items.length
}

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Area,
  type LeftBehind,
  type Scenario,
  type ScenarioStep,
  scenariosOf,
  type UndoRequest,
} from './case-format.ts'
import type { EventReader } from './event-reader.ts'
import { fillTemplate, type Variables } from './fill-template.ts'
import { matchValue, valueAt } from './match-value.ts'
import { openStream, type Reply, sendRequest, type Target } from './send-request.ts'

export type Outcome = 'passed' | 'failed' | 'skipped'
export type ScenarioResult = Pick<Scenario, 'id' | 'says' | 'level'> & {
  outcome: Outcome
  /** Lines that explain a failure or a skip. */
  reasons: string[]
  milliseconds: number
}
export type Left = { what: string; undo: UndoRequest | undefined }

export type RunOptions = Target & {
  kb: string
  cleanup: readonly LeftBehind[]
  /** Returns the seconds for which a step is repeated, given its own limit. Default: that limit. */
  waitFor?: (seconds: number) => number
  /** True if the scenario is to run. */
  isWanted: (scenario: Scenario) => boolean
  onResult?: (result: ScenarioResult) => void
  /** Callback before the steps of a scenario, after the common steps of its area. */
  onScenario?: (scenario: Scenario) => void
}

/** Thrown to skip a scenario: the server lacks a capability, or the run lacks a key. */
class Skipped extends Error {}
class Failed extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

type State = { options: RunOptions; variables: Variables; streams: Map<string, EventReader>; left: Map<string, Left> }

/** Runs scenarios one after the other, then removes what they left on the server, as far as possible. */
export async function runScenarios(
  areas: readonly Area[],
  options: RunOptions,
): Promise<{ results: ScenarioResult[]; left: string[] }> {
  const results: ScenarioResult[] = []
  const left = new Map<string, Left>()
  for (const area of areas) {
    const scenarios = scenariosOf(area).filter(options.isWanted)
    if (scenarios.length === 0) continue
    const variables: Variables = new Map(Object.entries({ kb: options.kb, run: newWord() }))
    const before = await attempt({ options, variables, streams: new Map(), left }, area.before)
    for (const scenario of scenarios) {
      const started = performance.now()
      options.onScenario?.(scenario)
      const state = { options, variables: new Map(variables).set('word', newWord()), streams: new Map(), left }
      const { outcome, reasons } = before.outcome === 'passed' ? await attempt(state, scenario.steps) : before
      const milliseconds = Math.round(performance.now() - started)
      const result = { id: scenario.id, says: scenario.says, level: scenario.level, outcome, reasons, milliseconds }
      options.onResult?.(result)
      results.push(result)
    }
  }
  return { results, left: await removeLeft(options, [...left.values()].reverse()) }
}

async function attempt(
  state: State,
  steps: readonly ScenarioStep[],
): Promise<Pick<ScenarioResult, 'outcome' | 'reasons'>> {
  try {
    for (const [at, step] of steps.entries())
      for (const variables of combinations(step.each)) {
        for (const [name, value] of variables) state.variables.set(name, fillTemplate(value, state.variables))
        await runStep(state, step, `step ${at + 1}`)
      }
    return { outcome: 'passed', reasons: [] }
  } catch (error) {
    if (error instanceof Skipped) return { outcome: 'skipped', reasons: [error.message] }
    if (error instanceof Failed) return { outcome: 'failed', reasons: [...error.faults] }
    return {
      outcome: 'failed',
      reasons: [String(error), ...(error instanceof Error && error.cause ? [String(error.cause)] : [])],
    }
  } finally {
    for (const stream of state.streams.values()) stream.close()
  }
}

async function runStep(state: State, step: ScenarioStep, name: string): Promise<void> {
  const wait = step.until ?? (step.next === undefined ? 0 : 20)
  for (const [variable, text] of Object.entries(step.let))
    state.variables.set(variable, fillTemplate(text, state.variables))
  const started = performance.now()
  for (;;) {
    const faults = await (step.next === undefined ? request(state, step) : nextEvent(state, step, step.next))
    if (faults.length === 0) return
    const what = fillTemplate(step.send ?? `an event of ${step.next}`, state.variables)
    const seconds = state.options.waitFor?.(wait) ?? wait
    if (performance.now() - started >= seconds * 1000)
      throw new Failed(faults.map((each) => `${name}, ${what}: ${each}`))
    await delay(100)
  }
}

async function request(state: State, step: ScenarioStep): Promise<string[]> {
  const { options, variables, streams, left } = state
  const needs = step.as === 'curator' || step.as === 'other' ? step.as : undefined
  if (needs !== undefined && options.keys[needs] === undefined) throw new Skipped(`needs --${needs}-key`)
  const { send, as, headers, json, text, form } = fillTemplate(
    { send: step.send, as: step.as, headers: step.headers, json: step.json, text: step.text, form: step.form },
    variables,
  )
  const sent = { send, as, headers, json, text, form }
  const wanted = [step.status ?? []].flat()
  let reply: Reply
  if (step.opens === undefined) reply = await sendRequest(options, sent, wanted.includes(429))
  else {
    const opened = await openStream(options, sent)
    streams.set(step.opens, opened.events)
    reply = opened.reply
  }
  for (const rule of options.cleanup) noteLeft(rule, send ?? '', reply, left)
  if (step.optional !== undefined && [403, 404, 405, 501].includes(reply.status) && !wanted.includes(reply.status))
    throw new Skipped(`the server has no ${step.optional}`)
  if (wanted.length > 0 && !wanted.includes(reply.status))
    return [`expected status ${wanted.join(' or ')}, got ${reply.status} ${reply.text.slice(0, 300)}`]
  const ofHeaders = matchValue(reply.headers, fillTemplate(step.answerHeaders, variables), 'headers')
  const ofText =
    step.answerText === undefined ? [] : matchValue(reply.text, fillTemplate(step.answerText, variables), 'text')
  return [...ofHeaders, ...ofText, ...check(step, reply.value, variables, reply.headers)]
}

async function nextEvent({ streams, variables }: State, step: ScenarioStep, name: string): Promise<string[]> {
  const events = streams.get(name)?.events ?? []
  const faults = events.map((event) => check(step, event, variables))
  if (faults.some((each) => each.length === 0)) return []
  return [`no such event among ${events.length}: ${events.map(({ event }) => event).join(', ')}`]
}

/** Saves variables from a response before comparing it, so that it can be compared with parts of itself. */
function check({ save, answer }: ScenarioStep, value: unknown, variables: Variables, headers = {}): string[] {
  for (const [variable, path] of Object.entries(save))
    variables.set(variable, valueAt(path.startsWith('headers.') ? { headers } : value, path))
  return answer === undefined ? [] : matchValue(value, fillTemplate(answer, variables), 'answer')
}

function noteLeft(rule: LeftBehind, sent: string, reply: Reply, left: Map<string, Left>): void {
  const pattern = new RegExp(`^${rule.after.replaceAll('*', '[^/?]+')}(?:\\?.*)?$`)
  if (reply.status !== rule.status || !pattern.test(sent)) return
  const saved = Object.entries(rule.save).map(([name, path]): [string, unknown] => [name, valueAt(reply.value, path)])
  const { leaves, undo } = fillTemplate({ leaves: rule.leaves, undo: rule.undo }, new Map(saved))
  left.set(leaves, { what: leaves, undo })
}

/** Removes what scenarios left on the server, and returns what could not be removed. */
async function removeLeft(options: RunOptions, left: readonly Left[]): Promise<string[]> {
  const stays: string[] = []
  for (const { what, undo } of left) {
    const mayUndo = undo !== undefined && (undo.as === 'key' || options.keys[undo.as] !== undefined)
    if (!mayUndo || !(await isRemoved(options, undo))) stays.push(what)
  }
  return stays
}

async function isRemoved(options: RunOptions, undo: UndoRequest): Promise<boolean> {
  const started = performance.now()
  for (;;) {
    const status = await sendRequest(options, undo).then(
      (reply) => reply.status,
      () => undefined,
    )
    if (status !== 409 || performance.now() - started >= undo.until * 1000)
      return status !== undefined && (status < 300 || status === 404)
    await delay(200)
  }
}

function combinations(each: Readonly<Record<string, readonly unknown[]>>): [string, unknown][][] {
  return Object.entries(each).reduce<[string, unknown][][]>(
    (all, [name, values]) =>
      all.flatMap((known) => values.map((value): [string, unknown][] => [...known, [name, value]])),
    [[]],
  )
}

/** Returns a random word that occurs in no other text, and that neither a stemmer nor a spelling correction changes. */
function newWord(): string {
  const letters = 'bcdfghjklmnpqrtvwxz'
  return `q${[...randomBytes(11)].map((byte) => letters[byte % letters.length]).join('')}`
}

import { type Context, onePer } from '../../kb/context.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import { inUse } from '../../kb/open/kb-use.ts'
import { surveyLinks } from '../../pages/graph/survey-links.ts'
import type { LintFinding } from '../../rules/lint/link-survey.ts'
import { withTimeout } from '../../system/concurrency/with-timeout.ts'

/** What was wrong with the links of a knowledge base at a commit of main. */
export type Survey = {
  main: string | undefined
  /** When: ISO 8601, UTC. */
  at: string
  findings: LintFinding[]
  /** Links that lead nowhere, or may lead to several Neurons. */
  brokenLinks: number
}

/** Surveys whose findings are kept; of the others only the numbers. */
const maxKept = 8
/** Milliseconds that a request waits for a survey before it takes an older one. */
const patienceMs = 400
/** A survey of a large knowledge base takes seconds: this many times as long passes before the next. */
const restFactor = 4

type Latest = Pick<Survey, 'main' | 'brokenLinks'> & { restUntil: number; survey: Survey | undefined }

export const findingSurveys = onePer((ctx: Context) => new FindingSurveys(ctx))

/** The latest survey of each knowledge base. Surveys run one at a time, and yield to requests. */
class FindingSurveys {
  readonly #ctx: Context
  /** The least recently made first. */
  readonly #latest = new Map<string, Latest>()
  readonly #running = new Map<string, Promise<Survey>>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /**
   * The number of broken links at the last survey; undefined before the first has ended. Begins another if main has moved.
   * @param main the commit of main now
   */
  brokenLinks(identity: KbIdentity, main: string | undefined): number | undefined {
    const latest = this.#latest.get(identity.id)
    if (isStale(latest, main)) this.#begin(identity).catch(() => {})
    return latest?.brokenLinks
  }

  /** The survey of the present main, or an older one while that is made; undefined where there is none yet. */
  async of(identity: KbIdentity, main: string | undefined): Promise<Survey | undefined> {
    const latest = this.#latest.get(identity.id)
    if (latest?.survey !== undefined && !isStale(latest, main)) return latest.survey
    const survey = this.#begin(identity)
    survey.catch(() => {}) // it may fail when nobody waits for it any longer
    return withTimeout(patienceMs, survey, () => latest?.survey)
  }

  #begin(identity: KbIdentity): Promise<Survey> {
    const running = this.#running.get(identity.id)
    if (running !== undefined) return running
    const survey = this.#turn
      .then(() => inUse(() => this.#survey(identity)))
      .finally(() => this.#running.delete(identity.id))
    this.#running.set(identity.id, survey)
    this.#turn = survey.catch(() => {})
    return survey
  }

  async #survey(identity: KbIdentity): Promise<Survey> {
    const kb = await this.#ctx.kbs.open(identity)
    const { main } = kb.projection.heads(kb.projection.read)
    const begin = performance.now()
    const findings = await surveyLinks(kb)
    const end = performance.now()
    const brokenLinks = findings.reduce((sum, finding) => sum + ('links' in finding ? finding.links : 0), 0)
    const survey = { main, at: this.#ctx.now().toISOString(), findings, brokenLinks }
    this.#latest.delete(identity.id)
    this.#latest.set(identity.id, { main, brokenLinks, restUntil: end + restFactor * (end - begin), survey })
    const kept = [...this.#latest.values()].filter((latest) => latest.survey !== undefined)
    for (const latest of kept.slice(0, -maxKept)) latest.survey = undefined
    return survey
  }
}

function isStale(latest: Latest | undefined, main: string | undefined): boolean {
  return latest === undefined || (latest.main !== main && performance.now() >= latest.restUntil)
}

import { type Context, onePer } from '../../kb/context.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import { surveyLinks } from '../../pages/graph/survey-links.ts'
import type { LintFinding } from '../../rules/lint/link-survey.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import { withTimeout } from '../../system/concurrency/with-timeout.ts'

/** Findings about the links of a knowledge base at a commit of main. */
export type Survey = {
  main: string | undefined
  /** Time of the survey: ISO 8601, UTC. */
  at: string
  findings: LintFinding[]
  /** Number of links that lead nowhere, or may lead to several Neurons. */
  brokenLinks: number
}

/** Maximum number of surveys whose findings are cached. Of others, only the counts are. */
const maxKept = 8
/** Milliseconds that a request waits for a new survey before it accepts an older one. */
const patienceMs = 400
/** Pause after a survey, as a multiple of its duration: for a large knowledge base it takes seconds. */
const restFactor = 4

type Latest = Pick<Survey, 'main' | 'brokenLinks'> & { restUntil: number; survey: Survey | undefined }

export const findingSurveys = onePer((ctx: Context) => new FindingSurveys(ctx))

/** Latest survey of each knowledge base. Surveys run one at a time, and yield to requests. */
class FindingSurveys {
  readonly #ctx: Context
  /** Surveys, least recently made first. */
  readonly #latest = new Map<string, Latest>()
  readonly #running = new Map<string, Promise<Survey>>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /**
   * Returns the number of broken links at the last survey; undefined before the first has ended. Starts another if main has moved. @param
   * main the present commit of main
   */
  brokenLinks(identity: KbIdentity, main: string | undefined): number | undefined {
    const latest = this.#latest.get(identity.id)
    if (isStale(latest, main)) this.#begin(identity).catch(() => {})
    return latest?.brokenLinks
  }

  /** Returns the survey of the present main, or an older one while that is made; undefined if there is none yet. */
  async of(identity: KbIdentity, main: string | undefined): Promise<Survey | undefined> {
    const latest = this.#latest.get(identity.id)
    if (latest?.survey !== undefined && !isStale(latest, main)) return latest.survey
    const survey = this.#begin(identity)
    survey.catch(() => {}) // It may fail when no caller waits for it any more.
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

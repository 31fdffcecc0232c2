import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { type Area, scenariosOf } from '../../../src/contract-suite/case-format.ts'
import { type RunOptions, runScenarios } from '../../../src/contract-suite/run-scenarios.ts'
import { Mutation, startMutatingProxy } from './mutating-proxy.ts'

/** The mutations by scenario and name. */
export const brokenRules = z
  .record(z.string(), z.record(z.string(), Mutation))
  .parse(parse(readFileSync(new URL('../mutations.yaml', import.meta.url), 'utf8')))

/** All of them. */
export const mutations: readonly Run[] = Object.entries(brokenRules).flatMap(([id, byName]) =>
  Object.entries(byName).map(([name, mutation]) => ({ id, name, mutation })),
)

const workers = 4

type Run = { id: string; name: string; mutation: Mutation }

/**
 * Runs scenarios with their mutations. Those of an area run behind each other, so that what they all need is made once. Returns the
 * mutations that are not caught, or that change nothing.
 */
export async function uncaughtMutations(
  areas: readonly Area[],
  runs: readonly Run[],
  server: Pick<RunOptions, 'url' | 'kb' | 'keys' | 'cleanup'>,
): Promise<string[]> {
  const rounds = areas.flatMap((area) => roundsOf(area, runs).map((round) => ({ area, round })))
  const uncaught: string[] = []
  const work = async () => {
    const proxy = await startMutatingProxy(server.url)
    for (let next = rounds.shift(); next !== undefined; next = rounds.shift()) {
      const { area, round } = next
      await runScenarios([area], {
        ...{ ...server, url: proxy.url, timeout: 60_000 },
        // What is broken does not mend itself.
        waitFor: (seconds) => (proxy.matches() > 0 ? Math.min(seconds, 2) : seconds),
        isWanted: ({ id }) => round.has(id),
        onScenario: ({ id }) => proxy.breakRule(round.get(id)?.mutation),
        onResult: ({ id, outcome, reasons }) => {
          // What fails otherwise, such as a broken connection, is no proof.
          const isProof = reasons.length > 0 && reasons.every((reason) => reason.startsWith('step '))
          const isCaught = outcome === 'failed' && proxy.matches() > 0 && isProof
          if (!isCaught)
            uncaught.push(`${id} ${round.get(id)?.name}: ${reasons.join(' ')} (${proxy.matches()} matches)`)
          proxy.breakRule(undefined)
        },
      })
    }
    proxy.close()
  }
  await Promise.all(Array.from({ length: workers }, work))
  return uncaught
}

/** Each round has one mutation at most of each scenario of an area. */
function roundsOf(area: Area, runs: readonly Run[]): Map<string, Run>[] {
  const rounds: Map<string, Run>[] = []
  for (const { id } of scenariosOf(area)) {
    for (const [at, run] of runs.filter((each) => each.id === id).entries()) {
      rounds[at] ??= new Map()
      rounds[at].set(id, run)
    }
  }
  return rounds
}

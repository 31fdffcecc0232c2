import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import type { Area } from '../../../src/contract-suite/case-format.ts'
import { type RunOptions, runScenarios } from '../../../src/contract-suite/run-scenarios.ts'
import { Mutation, startMutatingProxy } from './mutating-proxy.ts'

/** The mutations by scenario and name. */
export const brokenRules = z
  .record(z.string(), z.record(z.string(), Mutation))
  .parse(parse(readFileSync(new URL('../mutations.yaml', import.meta.url), 'utf8')))

const workers = 3

/** Runs each scenario once for each of its mutations. Returns the mutations that it does not catch, or that change nothing. */
export async function uncaughtMutations(
  areas: readonly Area[],
  server: Pick<RunOptions, 'url' | 'kb' | 'keys' | 'cleanup'>,
): Promise<string[]> {
  const runs = Object.entries(brokenRules).flatMap(([id, byName]) =>
    Object.entries(byName).map(([name, mutation]) => ({ id, name, mutation })),
  )
  const uncaught: string[] = []
  const work = async () => {
    const proxy = await startMutatingProxy(server.url)
    for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
      const { id, name, mutation } = run
      const { results } = await runScenarios(areas, {
        ...{ ...server, url: proxy.url, timeout: 60_000 },
        // What is broken does not mend itself.
        waitFor: (seconds) => (proxy.matches() > 0 ? Math.min(seconds, 5) : seconds),
        isWanted: (scenario) => scenario.id === id,
        onScenario: () => proxy.breakRule(mutation),
      })
      const reasons = results.flatMap((result) => (result.outcome === 'failed' ? result.reasons : []))
      // What fails otherwise, such as a broken connection, is no proof.
      const isCaught =
        proxy.matches() > 0 && reasons.length > 0 && reasons.every((reason) => reason.startsWith('step '))
      if (!isCaught) uncaught.push(`${id} ${name}: ${reasons.join(' ')} (${proxy.matches()} matches)`)
      proxy.breakRule(undefined)
    }
    proxy.close()
  }
  await Promise.all(Array.from({ length: workers }, work))
  return uncaught
}

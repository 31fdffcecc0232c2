import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { z } from 'zod'
import { type Area, scenariosOf } from '../../src/case-format.ts'
import { type RunOptions, runScenarios } from '../../src/run-scenarios.ts'
import { damaged, type ListDamage, listDamages, Mutation, startMutatingProxy } from './mutating-proxy.ts'

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
type Server = Pick<RunOptions, 'url' | 'kb' | 'keys' | 'cleanup'>

/**
 * Runs scenarios with their mutations. Those of an area run behind each other, so that what they all need is made once. Returns the
 * mutations that are not caught, or that change nothing.
 */
export async function uncaughtMutations(
  areas: readonly Area[],
  runs: readonly Run[],
  server: Server,
): Promise<string[]> {
  const rounds = areas.flatMap((area) => roundsOf(area, runs).map((round) => ({ area, round })))
  const uncaught: string[] = []
  const work = async () => {
    const proxy = await startMutatingProxy(server.url)
    for (let next = rounds.shift(); next !== undefined; next = rounds.shift()) {
      const { area, round } = next
      await runScenarios([area], {
        ...{ ...server, url: proxy.url, timeout: 60_000 },
        // A broken rule does not mend itself.
        waitFor: (seconds) => (proxy.matches() > 0 ? Math.min(seconds, 2) : seconds),
        isWanted: ({ id }) => round.has(id),
        onScenario: ({ id }) => proxy.breakRule(round.get(id)?.mutation),
        onResult: ({ id, outcome, reasons }) => {
          const isCaught = outcome === 'failed' && proxy.matches() > 0 && areProof(reasons)
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

/** Whether a scenario failed by what it compares. A broken connection is no proof. */
function areProof(reasons: readonly string[]): boolean {
  return reasons.length > 0 && reasons.every((reason) => reason.startsWith('step '))
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

/** A list in the answers of a route, as a path of fields. `damages` are those that change it. */
type SeenList = { route: string; path: string; damages: Set<ListDamage>; areas: Set<Area> }

/** Runs the areas and returns the lists that their answers hold. @throws if a scenario fails, which would hide a damage */
export async function listsIn(areas: readonly Area[], server: Server): Promise<SeenList[]> {
  const lists = new Map<string, SeenList>()
  for (const area of areas) {
    const proxy = await startMutatingProxy(server.url, (line, body) => {
      for (const { path, items } of listsOf(body)) {
        const key = `${routeOf(line)} ${path}`
        const seen = lists.get(key) ?? { route: routeOf(line), path, damages: new Set(), areas: new Set() }
        for (const damage of listDamages) {
          if (!isDeepStrictEqual(damaged(items, damage), items)) seen.damages.add(damage)
        }
        seen.areas.add(area)
        lists.set(key, seen)
      }
    })
    const { results } = await runScenarios([area], { ...server, url: proxy.url, timeout: 60_000, isWanted: () => true })
    const failed = results.filter(({ outcome }) => outcome !== 'passed')
    if (failed.length > 0) throw new Error(`These fail without a damage: ${failed.map(({ id }) => id)}`)
    proxy.close()
  }
  return [...lists.values()]
}

/** Returns the damages of a list, as `GET route path: damage`, that no scenario notices. */
export async function unnoticedDamages(lists: readonly SeenList[], server: Server): Promise<string[]> {
  const rest = lists.flatMap(({ damages, ...list }) => [...damages].map((damage) => ({ ...list, damage })))
  const unnoticed: string[] = []
  const work = async () => {
    const proxy = await startMutatingProxy(server.url)
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
      const { route, path, damage, areas } = next
      let isNoticed = false
      proxy.breakRule({ at: route, list: { path, damage } })
      for (const area of areas) {
        if (isNoticed) break
        await runScenarios([area], {
          ...{ ...server, url: proxy.url, timeout: 60_000 },
          waitFor: (seconds) => (proxy.matches() > 0 ? Math.min(seconds, 2) : seconds),
          isWanted: () => !isNoticed,
          onResult: ({ outcome, reasons }) => {
            isNoticed ||= outcome === 'failed' && proxy.matches() > 0 && areProof(reasons)
          },
        })
      }
      if (!isNoticed) unnoticed.push(`${route} ${path}: ${damage}`)
    }
    proxy.close()
  }
  await Promise.all(Array.from({ length: workers }, work))
  return unnoticed.sort()
}

/** Returns the pattern of a request line: what names one thing becomes a wildcard. */
function routeOf(line: string): string {
  const [path = ''] = line.split('?')
  const pattern = path
    .replace(/(?<=\/knowledge-bases\/)[^/]+/, '[^/?]+')
    .replace(/(?<=\/neurons\/)[^/]+\/[^/]+/, '[^/?]+/[^/?]+')
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '[^/?]+')
  return `^${pattern}(?:\\?|$)`
}

/** Returns the lists of a body that have items, by the fields that lead to them. */
function listsOf(body: unknown, path = ''): { path: string; items: unknown[] }[] {
  if (Array.isArray(body)) return body.length === 0 || path === '' ? [] : [{ path, items: body }]
  if (typeof body !== 'object' || body === null || 'error' in body) return []
  return Object.entries(body).flatMap(([name, value]) => listsOf(value, path === '' ? name : `${path}.${name}`))
}

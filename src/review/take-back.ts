import type { Staging } from '../git/staging.ts'
import type { WrittenVersion } from '../kb/projection/written-versions.ts'
import { editNeuron } from '../markdown/file/neuron-file.ts'
import { mergePages } from '../markdown/merge/merge-page.ts'

/** Version of a page. Without text and blob the page did not exist. The text has no back-pointer, which is not a change. */
export type Version = { path: string; blob: string | null; text: string | null }

/** Consecutive versions of one writer: the version before them, and their result. */
type Run = { start: Version; end: Version; isLast: boolean }

/** @throws {FrontMatterError} */
export async function readVersion(
  staging: Staging,
  { path, blob }: Pick<Version, 'path' | 'blob'> = { path: '', blob: null },
): Promise<Version> {
  const text = blob === null ? null : editNeuron(await staging.readText(blob), { candidate: undefined })
  return { path, blob, text }
}

/**
 * Returns the runs of the writer's versions, oldest first. `pages`: texts of the versions. `isLast`: only links followed a rename since.
 */
export function runsOf(start: Version, versions: readonly WrittenVersion[], pages: readonly Version[]): Run[] {
  const runs: Run[] = []
  let [before, isWithin] = [start, false]
  for (const [at, { by }] of versions.entries()) {
    const page = pages[at] ?? before
    const run = runs.at(-1)
    const isLast = versions.slice(at + 1).every(({ by, isFollowing }) => by === undefined || isFollowing)
    if (by === undefined && isWithin && run !== undefined) Object.assign(run, { end: page, isLast })
    else if (by === undefined) runs.push({ start: before, end: page, isLast })
    ;[before, isWithin] = [page, by === undefined]
  }
  return runs
}

/**
 * Reverts runs of versions, the latest first, and keeps what others wrote. On a conflict the result is the start of the run, merged against
 * its end, so that approving it meets the same conflict. `base`: base for the merge of the page.
 */
export function takeBack(now: Version, runs: readonly Run[]): { page: Version; base: Version; conflicts: boolean } {
  let page = now
  for (const { start, end, isLast } of runs.toReversed()) {
    const path = page.path === end.path || page.text === null ? start.path || page.path : page.path
    if (page.text === end.text) page = { ...start, path }
    else if (page.text === null || end.text === null || page.text === start.text) continue
    else if (start.text === null && isLast) page = { ...start, path }
    else if (start.text === null) return { page: start, base: end, conflicts: true }
    else {
      const merged = mergePages({ base: end.text, current: page.text, proposed: start.text })
      if ('conflicts' in merged) return { page: start, base: end, conflicts: true }
      page = { ...page, path, text: merged.text }
    }
  }
  return { page, base: now, conflicts: false }
}

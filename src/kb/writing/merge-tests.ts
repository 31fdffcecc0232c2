import { GanglionError } from '../../contract/errors.ts'
import { isTestPath, parseTestFile } from '../../markdown/file/test-file.ts'
import type { Candidate, CarriedTests } from '../../rules/candidates/candidate.ts'
import { type Conflict, mergeText } from '../../rules/neurons/merge.ts'
import { blobAtPath } from '../projection/file-queries.ts'
import { baseOf, type MainView } from './merge-candidate.ts'

/** File of answer tests on main and with a candidate; null: absent. `conflicts`: then `after` is the proposed text. */
export type TestFileChange = { path: string; before: string | null; after: string | null; conflicts?: Conflict[] }

/** Returns the changes of a candidate to the files of answer tests on the present main. */
export async function testFileChanges(
  view: MainView,
  { tests = [] }: Pick<Candidate, 'tests'>,
): Promise<TestFileChange[]> {
  const changes = await Promise.all(tests.map((file) => mergedTests(view, file)))
  return changes.filter(({ before, after }) => before !== after)
}

/** Returns the files that candidates change, as their approval commits them. @throws {GanglionError} `merge_conflict` */
export async function mergedTestFiles(
  view: MainView,
  candidates: readonly Candidate[],
): Promise<Map<string, string | null>> {
  const files = new Map<string, string | null>()
  for (const { path, after, conflicts } of (
    await Promise.all(candidates.map((one) => testFileChanges(view, one)))
  ).flat()) {
    if (conflicts === undefined && (files.get(path) ?? after) === after) files.set(path, after)
    else
      throw new GanglionError('merge_conflict', `${path} has changed since: propose the tests again.`, {
        conflicts: conflicts ?? [],
      })
  }
  return files
}

/** Merges tests that both sides appended, which would be a conflict of lines. */
function bothAppended(old: string, ours: string, theirs: string): string | undefined {
  if (!ours.startsWith(old) || !theirs.startsWith(old) || !/(?:^|\n)$/.test(ours)) return undefined
  const added = theirs.slice(old.length)
  return ours.slice(old.length).includes(added) ? ours : ours + added
}

async function mergedTests({ sql, readText }: MainView, { path, base, text }: CarriedTests): Promise<TestFileChange> {
  const blob = isTestPath(path) ? blobAtPath(sql, path) : undefined
  const before = blob === undefined ? null : await readText(blob)
  const began = (await baseOf({ readText }, { base })) ?? null
  if (before === text || before === began) return { path, before, after: text }
  const [old, ours, theirs] = [began ?? '', before ?? '', text ?? '']
  const unmerged = { path, before, after: text, conflicts: [{ line: 1, base: old, current: ours, proposed: theirs }] }
  if (before === null || text === null) return unmerged
  const merged = mergeText(old, ours, theirs)
  const after = 'text' in merged ? merged.text : bothAppended(old, ours, theirs)
  const isSound = after !== undefined && parseTestFile(after).findings.every(({ severity }) => severity === 'warning')
  return isSound
    ? { path, before, after }
    : { ...unmerged, ...('conflicts' in merged && { conflicts: merged.conflicts }) }
}

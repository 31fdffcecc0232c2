import { type UnifiedDiff, unifiedDiff } from './unified-diff.ts'

export type DiffTask = { before: string | null; after: string }

/** Runs in a worker thread, since a long text takes a while. */
export default function diff({ before, after }: DiffTask): UnifiedDiff {
  return unifiedDiff(before, after)
}

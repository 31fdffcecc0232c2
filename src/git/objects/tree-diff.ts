import { decodeEntry, type GitTreeEntry, sortKey } from './tree.ts'

export type EntryChange = { was?: GitTreeEntry; is?: GitTreeEntry }

const step = 4096

/**
 * The entries in which two trees differ, in git's order. A file that is replaced by a folder of its name is two changes. Only what
 * differs is decoded: a folder of 10,000 files is mostly as it was.
 * @throws {GitError} `corrupt-object`
 */
export function* differingEntries(before: Buffer, after: Buffer): Generator<EntryChange> {
  let [old, now] = [0, 0]
  for (;;) {
    const same = wholeEntries(before, old, commonLength(before, old, after, now))
    old += same
    now += same
    const was = old < before.length ? decodeEntry(before, old) : undefined
    const is = now < after.length ? decodeEntry(after, now) : undefined
    if (was === undefined && is === undefined) return
    const order = compareKeys(was?.entry, is?.entry)
    if (was !== undefined && order <= 0) old = was.end
    if (is !== undefined && order >= 0) now = is.end
    if (order < 0 && was !== undefined) yield { was: was.entry }
    else if (order > 0 && is !== undefined) yield { is: is.entry }
    else if (was !== undefined && is !== undefined) yield { was: was.entry, is: is.entry }
  }
}

/** Returns the number of equal bytes from `old` and `now` on. */
function commonLength(before: Buffer, old: number, after: Buffer, now: number): number {
  const most = Math.min(before.length - old, after.length - now)
  let length = 0
  while (length + step <= most && isSame(before, old + length, after, now + length, step)) length += step
  while (length < most && before[old + length] === after[now + length]) length++
  return length
}

function isSame(a: Buffer, at: number, b: Buffer, bt: number, length: number): boolean {
  return a.compare(b, bt, bt + length, at, at + length) === 0
}

/** Returns how many of `length` bytes are whole entries. */
function wholeEntries(tree: Buffer, start: number, length: number): number {
  let end = start
  for (;;) {
    const next = tree.indexOf(0, end) + 21
    if (next <= 20 || next > start + length) return end - start
    end = next
  }
}

function compareKeys(was: GitTreeEntry | undefined, is: GitTreeEntry | undefined): number {
  if (was === undefined) return 1
  if (is === undefined) return -1
  const [a, b] = [sortKey(was), sortKey(is)]
  return a < b ? -1 : a > b ? 1 : 0
}

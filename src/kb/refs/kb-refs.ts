import type { Oid } from '../../git/objects/object.ts'

export const mainRef = 'refs/heads/main'
export const queueRef = 'refs/ganglion/queue'
/**
 * Ref that maps the ids of commits that an erasure has replaced to their replacements: an older clone must not bring them back, and
 * citations name them.
 */
export const erasedRef = 'refs/ganglion/erased'
/** Refs that nodes share. A copy that has a later one also has the first. */
export const sharedRefs = [erasedRef, queueRef, mainRef]

/** Thrown if the repository of a knowledge base, or a folder of it, is missing. */
export class RepositoryMissing extends Error {
  constructor(path: string, options?: ErrorOptions) {
    super(`${path} is gone; to put it back: ganglion restore`, options)
  }
}

/** Thrown if an existing ref has disappeared, as when `packed-refs` was emptied. */
export class RefMissing extends Error {
  constructor(gitDir: string, ref: string, lastSeen: Oid) {
    super(`${ref} is gone; to put it back: git --git-dir=${gitDir} update-ref ${ref} ${lastSeen}`)
  }
}

/** File on the queue ref with the number that seqIds must exceed, whatever main has. */
export const seqFloorPath = 'seq-floor'

export function formatSeqFloor(floor: number): string {
  return `${floor}\n`
}

/** Undefined if the text is not a floor. */
export function parseSeqFloor(text: string): number | undefined {
  return /^[0-9]{1,8}\n?$/.test(text) ? Number(text) : undefined
}

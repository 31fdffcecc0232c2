import type { Oid } from '../../git/objects/object.ts'

export const mainRef = 'refs/heads/main'
export const queueRef = 'refs/ganglion/queue'
/**
 * Maps the ids of commits that an erasure has replaced to those in their place: a clone of before still has the former and must not
 * bring them back, and citations name them.
 */
export const erasedRef = 'refs/ganglion/erased'
/** What nodes share of a repository. A copy that has the others has the first. */
export const sharedRefs = [erasedRef, queueRef, mainRef]

/** The repository of a knowledge base, or a folder of it, is not where it was. */
export class RepositoryMissing extends Error {
  constructor(path: string, options?: ErrorOptions) {
    super(`${path} is gone; to put it back: ganglion restore`, options)
  }
}

/** A ref that was there is gone, as where `packed-refs` was emptied. */
export class RefMissing extends Error {
  constructor(gitDir: string, ref: string, lastSeen: Oid) {
    super(`${ref} is gone; to put it back: git --git-dir=${gitDir} update-ref ${ref} ${lastSeen}`)
  }
}

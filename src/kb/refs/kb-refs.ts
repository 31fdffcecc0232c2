import type { Oid } from '../../git/objects/object.ts'

export const mainRef = 'refs/heads/main'
export const queueRef = 'refs/ganglion/queue'

/** The repository of a knowledge base, or a folder of it, is not where it was. */
export class RepositoryMissing extends Error {
  constructor(path: string, options?: ErrorOptions) {
    super(`${path} is gone; to put it back: ganglion restore`, options)
    this.name = 'RepositoryMissing'
  }
}

/** A ref that was there is gone, as where `packed-refs` was emptied. */
export class RefMissing extends Error {
  constructor(gitDir: string, ref: string, lastSeen: Oid) {
    super(`${ref} is gone; to put it back: git --git-dir=${gitDir} update-ref ${ref} ${lastSeen}`)
    this.name = 'RefMissing'
  }
}

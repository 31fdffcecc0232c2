import type { SlotClaim } from '../../git/native/git-slots.ts'
import type { Receiver } from '../../git/serve/push.ts'

export type GitAddress = {
  tenant: string
  kb: string
  /** Origin of the server as the caller reaches it. */
  reachedAt: string
}

/** A knowledge base's repository as a caller reaches it with git. */
export type GitDoor = {
  gitDir: string
  /** What the caller's git processes count for. */
  claim: SlotClaim
  /** Beginnings of names of refs that the caller may not see. */
  hiddenRefs: readonly string[]
  brokenRefs: readonly string[]
  /** Makes the refs that a fetch asks for, where they are made on demand. Prefixes as in `ls-refs` of protocol v2; none: all. */
  prepareFetch(refPrefixes: readonly string[]): Promise<void>
  receiver: Receiver
}

import type { SlotClaim } from '../../git/native/git-slots.ts'
import type { Receiver } from '../../git/serve/push.ts'

export type GitAddress = {
  tenant: string
  kb: string
  /** Origin of the server as the caller reaches it. */
  reachedAt: string
}

export type GitDoor = {
  gitDir: string
  /** What the caller's git processes count for. */
  claim: SlotClaim
  brokenRefs: readonly string[]
  /** Makes the refs that a fetch asks for, where they are made on demand. Prefixes as in `ls-refs` of protocol v2; none: all. */
  prepareFetch(refPrefixes: readonly string[]): Promise<void>
  /** Of a caller's push; undefined of a clone that shows only a part, which takes none. */
  receiver: Receiver | undefined
}

import type { Receiver } from '../../git/serve/push.ts'
import type { SlotClaim } from '../../system/concurrency/fair-slots.ts'

export type GitAddress = {
  tenant: string
  kb: string
  /** Origin of the server as the caller reaches it. */
  reachedAt: string
}

export type GitDoor = {
  gitDir: string
  /** Claim under which the caller's git processes are counted. */
  claim: SlotClaim
  brokenRefs: readonly string[]
  /** Creates the refs that a fetch requests, if they are made on demand. Prefixes as in `ls-refs` of protocol v2; none: all. */
  prepareFetch(refPrefixes: readonly string[]): Promise<void>
  /** Receiver of the caller's pushes; undefined for a partial clone, which accepts none. */
  receiver: Receiver | undefined
}

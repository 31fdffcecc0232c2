import { GanglionError } from '../../contract/errors.ts'
import { brokenRefs } from '../../git/refs/refs.ts'
import type { Context } from '../../kb/context.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import { candidateHeads } from '../../queue/heads/candidate-refs.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { receiverFor } from '../receive-push.ts'
import type { GitAddress, GitDoor } from './git-door.ts'

/** Folders that only the server writes to. */
const serverRefs = ['refs/ganglion', 'refs/candidates']
const noFetch =
  "A clone holds hidden pages, too: it takes a curator's key, or one made with `ganglion key create --git`."

/**
 * The repository of a knowledge base of the caller's tenant, which must be the one that is named.
 * @throws {GanglionError} `not_found`, `insufficient_role`
 */
export async function openGitDoor(
  ctx: Context,
  caller: Caller,
  { tenant, kb: name, reachedAt }: GitAddress,
): Promise<GitDoor> {
  const named = tenant === caller.tenantId ? caller.tenantId : (await ctx.tenants.find(tenant))?.id
  if (named !== caller.tenantId) throw new GanglionError('not_found')
  const kb = await ctx.kb(caller.tenantId, name)
  const fetches = caller.role === 'curator' ? 'all' : (caller.git ?? 'none')
  if (fetches === 'none') throw new GanglionError('insufficient_role', noFetch)
  return {
    gitDir: kb.repository.gitDir,
    claim: { key: caller.id, repository: kb.identity.id, tenant: caller.tenantId },
    // Not main: who clones it must hear that it is damaged.
    brokenRefs: await brokenRefs(kb.repository, [mainRef, ...serverRefs]),
    hiddenRefs: fetches === 'all' ? [] : serverRefs,
    async prepareFetch(refPrefixes) {
      // Nobody else sees what would be made.
      if (fetches === 'all') await candidateHeads(kb, ctx).prepare(refPrefixes)
    },
    receiver: receiverFor(ctx, kb, { caller, reachedAt }),
  }
}

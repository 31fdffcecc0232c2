import { z } from 'zod'
import { GanglionError } from '../../contract/errors.ts'
import { nativeGit } from '../../git/native/git-process.ts'
import { brokenRefs } from '../../git/refs/refs.ts'
import { audienceClone } from '../../kb/clone/audience-clone.ts'
import type { Context } from '../../kb/context.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import { candidateHeads } from '../../queue/heads/candidate-refs.ts'
import { effectiveAudience, servedAudiences } from '../../rules/access/audience.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { receiverFor } from '../receive-push.ts'
import type { GitAddress, GitDoor } from './git-transfers.ts'

/** Ref folders that only the server writes to. */
const serverRefs = ['refs/ganglion', 'refs/candidates']
const noGit = 'This server has no git, which clones and pushes need: install git beside it, and start it again.'
const foreignAudience = (asked: string) =>
  `This key may not fetch what the audience ${asked} sees. An administrator can make a reader key for it: ganglion key create --audience ${asked}.`
/** Schema of the addressed knowledge base: `handbook`, or `handbook@public` for an audience's view. */
const AddressedKb = z.tuple([z.string(), z.enum(servedAudiences).optional()])

/**
 * Opens the repository of a knowledge base of the caller's tenant, which must be the named one, or the clone that contains only what the
 * caller may see.
 * @throws {GanglionError} `not_found`, `unavailable`
 */
export async function openGitDoor(
  ctx: Context,
  caller: Caller,
  { tenant, kb: address, reachedAt }: GitAddress,
): Promise<GitDoor> {
  const tenantId = tenant === caller.tenantId ? tenant : (await ctx.tenants.find(tenant))?.id
  const named = AddressedKb.safeParse(address.split('@'))
  if (tenantId !== caller.tenantId || !named.success) throw new GanglionError('not_found')
  const [name, asked] = named.data
  const kb = await ctx.kb(caller.tenantId, name)
  if ((await nativeGit()) === undefined) throw new GanglionError('unavailable', noGit)
  const audience = effectiveAudience(caller.git === 'all' ? { role: 'curator' } : caller, asked)
  if (asked !== undefined && audience !== asked) throw new GanglionError('insufficient_role', foreignAudience(asked))
  const claim = { key: caller.id, repository: kb.identity.id, tenant: caller.tenantId }
  if (audience !== 'curator') {
    const gitDir = await audienceClone(ctx, kb, audience)
    return { gitDir, claim, brokenRefs: [], prepareFetch: async () => {}, receiver: undefined }
  }
  return {
    gitDir: kb.repository.gitDir,
    claim,
    // Main is not among them: a clone must fail if main is damaged.
    brokenRefs: await brokenRefs(kb.repository, [mainRef, ...serverRefs]),
    prepareFetch: (refPrefixes) => candidateHeads(kb, ctx).prepare(refPrefixes),
    receiver: receiverFor(ctx, kb, { caller, reachedAt }),
  }
}

import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { type Context, emitAct } from '../../kb/context.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import { versionAt } from '../../kb/projection/version-queries.ts'
import { proposalViewOf } from '../../queue/approval.ts'
import { actorOf, type Caller } from '../../rules/access/caller.ts'
import { checkPage, type PageFinding } from './check-page.ts'
import { requireCurator } from './open-page.ts'
import { type PageSubmission, type Submitted, submitPage } from './submit-page.ts'
import { type PageWrite, writtenPage } from './written-page.ts'

/** Options of a write. `publish`: the author approves it. */
export type WriteOptions = Pick<PageSubmission, 'candidateId' | 'note'> & { kb: string; publish: boolean }

/**
 * Proposes a new or changed page, or publishes it at once. If somebody else has changed the page since the edit began, both are merged.
 * @throws {ValidationError} with the fields `title`, `path`, `base`, `tags`, or `content` for content that a push could not have either; or
 * if nothing is changed
 * @throws {GanglionError} `insufficient_role`, `not_found`, `target_unreadable`, `queue_full`, `record_full`
 */
export async function writePage(
  ctx: Context,
  caller: Caller,
  write: PageWrite,
  { kb: kbName, candidateId, note, publish }: WriteOptions,
): Promise<Submitted> {
  const { findings } = await checkPage(ctx, caller, write, { kb: kbName })
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new ValidationError({ content: errors.map(toProblem) })
  const kb = await ctx.kb(caller.tenantId, kbName)
  const submitted = await kb.write(async (staging) => {
    const at = ctx.now()
    const { neuron, base, isChanged } = await writtenPage(proposalViewOf(kb, staging), write, at)
    if (!isChanged) throw new ValidationError({}, ['Nothing is changed.'])
    return submitPage(kb, staging, { candidateId, neuron, base, note }, { actor: actorOf(caller), at, publish })
  })
  return emitAct(ctx, 'submit', submitted)
}

/**
 * Proposes to remove a page, or removes it at once; rejected if it has changed since the caller saw it.
 * @param base commit of the version that the caller saw
 * @throws {ValidationError} with the field `base`
 * @throws {GanglionError} as {@link writePage}
 */
export async function removePage(
  ctx: Context,
  caller: Caller,
  { seqId, base }: { seqId: string; base: string },
  { kb: kbName, candidateId, note, publish }: WriteOptions,
): Promise<Submitted> {
  requireCurator(caller)
  const kb = await ctx.kb(caller.tenantId, kbName)
  const submitted = await kb.write(async (staging) => {
    const { write: sql } = kb.projection
    const before = findNeuron(sql, seqId)
    if (before === undefined) throw new GanglionError('not_found')
    const version = versionAt(sql, seqId, base)
    if (version === undefined || version.blob === null)
      throw new ValidationError({ base: ['is no version of the page'] })
    const neuron = { seqId, before, path: before.path, blob: undefined, text: null }
    const submission = { candidateId, neuron, base: version.blob, note }
    return submitPage(kb, staging, submission, { actor: actorOf(caller), at: ctx.now(), publish })
  })
  return emitAct(ctx, 'submit', submitted)
}

function toProblem({ message, line }: PageFinding): string {
  return line === undefined ? message : `Line ${line}: ${message}`
}

import { GitError } from '../../git/git-error.ts'
import { requireConnected } from '../../git/history/reachable.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Repository } from '../../git/repository.ts'
import { PackRefused } from '../../git/serve/pack-meter.ts'
import type { Receiver } from '../../git/serve/receive-hooks.ts'
import { withQuarantine } from '../../git/transport/quarantine.ts'
import { fetchPack } from '../../git/transport/remote.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import { packLimits } from '../../push/git/git-transfers.ts'
import { receiverFor } from '../../push/receive-push.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { PullRequest } from '../forge-adapter.ts'
import { callerOfLink, type Linked, type LinkedTaking, type Seen } from './linked.ts'

/** Outcome of taking commits of a forge. `lines`: messages as a git push would print them. */
export type Taken = {
  isTaken: boolean
  lines: readonly string[]
  /** True if a proposal was rejected only because of files that cannot wait in the queue, so that only a merge could bring them. */
  mayMerge?: boolean
  /** Step that is rejected only until further people approve. Later steps were not tried. */
  awaiting?: Step
}

/** Range of the fetched commits that is received as one push of one caller. */
export type Step = {
  to: Oid
  caller: Caller
  /** Push option: `submit`, or a topic. */
  option: string
  /** Request that this step merges. */
  request?: PullRequest
  /** True if main must not get the changes of this step. */
  isLeftOut?: boolean
}

const proposeRef = 'refs/for/main'
const submit = 'submit'

/**
 * Receives commits of the forge as if they had been pushed to `refs/for/main`: with the same quarantine, limits, checks and record. Needs
 * no git. A later step may repair a rejected one, and is then the link's, since it belongs to no single person.
 * @param also further commits to fetch; steps must not lead to them
 * @param stepsOf plans the steps from the fetched commits; the last step leads to all of them
 * @throws {RemoteError} {@link GitError}
 */
export async function takeCommits(
  linked: LinkedTaking,
  { to, also = [], haves }: { to: Oid; also?: readonly Oid[]; haves: readonly Oid[] },
  stepsOf: (repository: Repository) => Promise<readonly Step[]>,
): Promise<Taken> {
  const { ctx, kb, forge, signal, link } = linked
  const wants: Oid[] = []
  for (const oid of [to, ...also]) if ((await kb.repository.find(oid)) === undefined) wants.push(oid)
  const pack = wants.length === 0 ? undefined : fetchPack(await forge.access(), { wants, haves }, { signal })
  try {
    return await withQuarantine(kb.repository.gitDir, pack, packLimits, async (quarantine) => {
      if (quarantine.folder !== undefined) await requireWhole(linked, to, quarantine.folder)
      const steps = await withObjects(linked, quarantine.folder, stepsOf)
      let taken: Taken = { isTaken: true, lines: [] }
      let by: string | undefined
      let release: (() => Promise<void>) | undefined
      const admit = async () => {
        release ??= await quarantine.admit()
      }
      try {
        for (const step of steps) {
          const caller = taken.isTaken || by === step.caller.id ? step.caller : callerOfLink(linked)
          by = caller.id
          const isReviewed = caller.id !== callerOfLink(linked).id || !(await kb.settings()).protectMain
          const follows = step.isLeftOut === true ? 'leave out' : isReviewed ? 'merge' : 'merge nothing'
          const receiver = receiverFor(ctx, kb, { caller, reachedAt: link.url, follows })
          taken = await receivePush(receiver, { folder: quarantine.folder, admit }, step)
          await kb.sync()
          // A later step must not bring the same changes without the approvals.
          if (taken.awaiting !== undefined) break
        }
      } finally {
        await release?.()
      }
      return taken
    })
  } catch (error) {
    if (!(error instanceof PackRefused)) throw error
    return { isTaken: false, lines: [error.message] }
  }
}

async function withObjects<Result>(
  { kb }: LinkedTaking,
  quarantine: string | undefined,
  use: (repository: Repository) => Promise<Result>,
): Promise<Result> {
  using repository = kb.repository.withQuarantine(quarantine)
  return await use(repository)
}

/** Checks that all objects of a commit are there. @throws {PackRefused} if the pack lacks some */
async function requireWhole(linked: LinkedTaking, to: Oid, quarantine: string): Promise<void> {
  const from = await linked.kb.repository.readRef(mainRef)
  if (from === undefined) return
  try {
    await withObjects(linked, quarantine, (repository) => requireConnected(repository, { from, to }))
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw new PackRefused(`The pack lacks something: ${error.message}.`)
  }
}

async function receivePush(
  receiver: Receiver,
  { folder, admit }: { folder: string | undefined; admit: () => Promise<void> },
  step: Step,
): Promise<Taken> {
  const { to, option } = step
  const updates = [{ ref: proposeRef, from: undefined, to }]
  const judged = await receiver.judge(updates, folder, [option])
  if (!judged.accepted) {
    const mayMerge = option !== submit && (await receiver.judge(updates, folder, [submit])).accepted
    return { isTaken: false, lines: told(judged.lines, 'it breaks rules'), mayMerge }
  }
  await admit()
  const { outcomes, lines } = await receiver.receive(updates, [option])
  const { refused, awaitsApproval } = outcomes.find((outcome) => outcome.refused !== undefined) ?? {}
  const all = [...judged.lines, ...lines]
  if (refused === undefined) return { isTaken: true, lines: all }
  return { isTaken: false, lines: told(all, refused), ...(awaitsApproval === true && { awaiting: step }) }
}

function told(lines: readonly string[], otherwise: string): readonly string[] {
  return lines.length > 0 ? lines : [otherwise]
}

/**
 * Returns commits that need not be fetched, with all their history: our main, and the forge's former mains. Only stored commits count: the
 * forge's main may not have been taken yet, and a restored backup may be older than the agreed state.
 */
export async function havesOf({ kb, link }: Linked, { branches }: Seen): Promise<Oid[]> {
  const haves: Oid[] = []
  for (const oid of [await kb.repository.readRef(mainRef), branches.get(link.branch), link.main]) {
    if (oid && (await kb.repository.find(oid)) !== undefined) haves.push(oid)
  }
  return haves
}

import { GitError } from '../../git/git-error.ts'
import type { Oid } from '../../git/objects/object.ts'
import { Repository } from '../../git/repository.ts'
import { PackRefused } from '../../git/serve/pack-meter.ts'
import type { Receiver } from '../../git/serve/push.ts'
import { requireConnected } from '../../git/transport/connectivity.ts'
import { withQuarantine } from '../../git/transport/incoming-pack.ts'
import { fetchPack } from '../../git/transport/remote.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import { packLimits } from '../../push/git/git-transfers.ts'
import { receiverFor } from '../../push/receive-push.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { callerOfLink, type LinkedTaking } from './linked.ts'

/** What became of commits of a forge. `lines` are what a pusher would read. */
export type Taken = { isTaken: boolean; lines: readonly string[] }

/** A part of what was fetched, as one push of one caller. `option` is that of the push: `submit`, or a topic. */
export type Step = { to: Oid; caller: Caller; option: string }

const proposeRef = 'refs/for/main'

/**
 * Takes commits of the forge as if somebody had pushed them to `refs/for/main`: the same quarantine, limits, checks and record. It
 * needs no git. A step that is refused may be mended by a later one, which then is the link's: it is nobody's alone.
 * @param also further commits that are read; steps must not lead to them
 * @param stepsOf sees the commits before they are taken; the last step leads to all of them
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
          const follows = isReviewed ? 'merge' : 'merge nothing'
          const receiver = receiverFor(ctx, kb, { caller, reachedAt: link.url, follows })
          taken = await receivePush(receiver, { folder: quarantine.folder, admit }, step)
          await kb.sync()
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
  const repository = new Repository(kb.repository.gitDir, { quarantine })
  try {
    return await use(repository)
  } finally {
    repository.close()
  }
}

/** @throws {PackRefused} where the pack lacks something */
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
  { to, option }: Step,
): Promise<Taken> {
  const updates = [{ ref: proposeRef, from: undefined, to }]
  const judged = await receiver.judge(updates, folder, [option])
  if (!judged.accepted) return { isTaken: false, lines: told(judged.lines, 'it breaks rules') }
  await admit()
  const { outcomes, lines } = await receiver.receive(updates, [option])
  const refused = outcomes.find((outcome) => outcome.refused !== undefined)?.refused
  const all = [...judged.lines, ...lines]
  return refused === undefined ? { isTaken: true, lines: all } : { isTaken: false, lines: told(all, refused) }
}

function told(lines: readonly string[], otherwise: string): readonly string[] {
  return lines.length > 0 ? lines : [otherwise]
}

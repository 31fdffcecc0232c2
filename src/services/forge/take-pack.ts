import { GitError } from '../../git/git-error.ts'
import type { Oid } from '../../git/objects/object.ts'
import { Repository } from '../../git/repository.ts'
import { PackRefused } from '../../git/serve/pack-meter.ts'
import type { Receiver } from '../../git/serve/push.ts'
import { requireConnected } from '../../git/transport/connectivity.ts'
import { type Quarantine, withQuarantine } from '../../git/transport/incoming-pack.ts'
import { fetchPack } from '../../git/transport/remote.ts'
import type { Caller } from '../caller.ts'
import { packLimits } from '../git/git-transfers.ts'
import { mainRef } from '../knowledge-base/kb-refs.ts'
import { receiverFor } from '../push/receive-push.ts'
import type { Linked } from './linked.ts'

/** What became of commits of a forge. `lines` are what a pusher would read. */
export type Taken = { isTaken: boolean; lines: readonly string[] }

type Commits = { to: Oid; option: string; haves: readonly Oid[] }

const proposeRef = 'refs/for/main'

/**
 * Takes commits of the forge as if somebody had pushed them to `refs/for/main`: the same quarantine, limits, checks and record. It
 * needs no git.
 * @param option of the push: `submit`, or a topic
 * @throws {RemoteError} {@link GitError}
 */
export async function takeCommits(linked: Linked, caller: Caller, commits: Commits): Promise<Taken> {
  const { ganglion, kb, forge, signal, link } = linked
  const { to, option, haves } = commits
  const { gitDir } = kb.repository
  const isHere = (await kb.repository.find(to)) !== undefined
  const pack = isHere ? undefined : fetchPack(await forge.access(), { wants: [to], haves }, { signal })
  const receiver = receiverFor(ganglion, kb, { caller, reachedAt: link.url })
  try {
    return await withQuarantine(gitDir, pack, packLimits, async (quarantine) => {
      if (quarantine.folder !== undefined) await requireWhole(linked, to, quarantine.folder)
      return receivePush(receiver, quarantine, to, option)
    })
  } catch (error) {
    if (!(error instanceof PackRefused)) throw error
    return { isTaken: false, lines: [error.message] }
  }
}

/** @throws {PackRefused} where the pack lacks something */
async function requireWhole({ kb }: Linked, to: Oid, quarantine: string): Promise<void> {
  const from = await kb.repository.readRef(mainRef)
  const repository = new Repository(kb.repository.gitDir, { quarantine })
  try {
    if (from !== undefined) await requireConnected(repository, { from, to })
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw new PackRefused(`The pack lacks something: ${error.message}.`)
  } finally {
    repository.close()
  }
}

async function receivePush(receiver: Receiver, quarantine: Quarantine, to: Oid, option: string): Promise<Taken> {
  const updates = [{ ref: proposeRef, from: undefined, to }]
  const judged = await receiver.judge(updates, quarantine.folder, [option])
  if (!judged.accepted) return { isTaken: false, lines: told(judged.lines, 'it breaks rules') }
  const release = await quarantine.admit()
  try {
    const { outcomes, lines } = await receiver.receive(updates, [option])
    const refused = outcomes.find((outcome) => outcome.refused !== undefined)?.refused
    const all = [...judged.lines, ...lines]
    return refused === undefined ? { isTaken: true, lines: all } : { isTaken: false, lines: told(all, refused) }
  } finally {
    await release()
  }
}

function told(lines: readonly string[], otherwise: string): readonly string[] {
  return lines.length > 0 ? lines : [otherwise]
}

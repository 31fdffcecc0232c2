import { createHash } from 'node:crypto'
import type { Oid } from '../../git/objects/object.ts'
import { encodePacket, flushPacket } from '../../git/serve/pkt-line.ts'
import type { Receiver } from '../../git/serve/push.ts'
import { fetchPack } from '../../git/transport/remote.ts'
import type { Caller } from '../caller.ts'
import { receiverFor } from '../push/receive-push.ts'
import type { Linked } from './linked.ts'

/** What became of commits of a forge. `lines` are what a pusher would read. */
export type Taken = { isTaken: boolean; lines: readonly string[] }

const proposeRef = 'refs/for/main'
const zeroOid = '0'.repeat(40)
const capabilities = 'report-status side-band-64k push-options object-format=sha1 agent=ganglion'

/**
 * Takes commits of the forge as if somebody had pushed them to `refs/for/main`: the same quarantine, limits, checks and record.
 * @param option of the push: `submit`, or a topic
 * @throws {RemoteError} @throws {GanglionError} while too many others are served
 */
export async function takeCommits(
  linked: Linked,
  caller: Caller,
  { to, option, haves }: { to: Oid; option: string; haves: readonly Oid[] },
): Promise<Taken> {
  const { ganglion, kb, forge, transfers, signal, onError, link } = linked
  const { gitDir } = kb.repository
  const isHere = (await kb.repository.find(to)) !== undefined
  const access = isHere ? undefined : await forge.access()
  const pack = access === undefined ? emptyPack() : fetchPack(access, { wants: [to], haves }, { signal })
  const said: { lines: readonly string[]; refused: string | undefined } = { lines: [], refused: 'the pack was refused' }
  const receiver = receiverFor(ganglion, kb, { caller, reachedAt: link.url })
  const listening: Receiver = {
    judge: async (...push) => {
      const judgement = await receiver.judge(...push)
      said.lines = judgement.lines
      said.refused = judgement.accepted ? undefined : 'it breaks rules'
      return judgement
    },
    receive: async (...push) => {
      const report = await receiver.receive(...push)
      said.lines = [...said.lines, ...report.lines]
      said.refused = report.outcomes.find(({ refused }) => refused !== undefined)?.refused
      return report
    },
  }
  const door = {
    gitDir,
    claim: { key: link.id, repository: kb.identity.id, tenant: link.tenantId },
    hiddenRefs: [],
    prepareFetch: async () => {},
    receiver: listening,
  }
  const body = pushOf(to, option, pack)
  const output = await transfers.serve(door, { service: 'receive-pack', protocol: undefined, body, signal, onError })
  for await (const _ of output); // what git would show is what the receiver said
  const { lines, refused } = said
  return refused === undefined
    ? { isTaken: true, lines }
    : { isTaken: false, lines: lines.length > 0 ? lines : [refused] }
}

/** A push as git's client sends it; see gitprotocol-pack(5). */
async function* pushOf(to: Oid, option: string, pack: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield encodePacket(`${zeroOid} ${to} ${proposeRef}\0 ${capabilities}`)
  yield flushPacket
  yield encodePacket(option)
  yield flushPacket
  yield* pack
}

async function* emptyPack(): AsyncGenerator<Buffer> {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  yield Buffer.concat([header, createHash('sha1').update(header).digest()])
}

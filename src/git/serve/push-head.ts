import { GitError } from '../git-error.ts'
import { encodePacket, flushPacket, PacketReader, PktLineError } from './pkt-line.ts'

/** Head of a push: the refs that it would move, and the client's capabilities. */
export type PushHead = { refs: readonly string[]; capabilities: ReadonlySet<string> }

/** Maximum bytes of commands and push options, far above those of any accepted push. */
const maxPushHead = 1024 * 1024
/** Maximum bytes of a side-band packet's content, besides its length and band. */
const maxBand = 65_515

/**
 * Reads the commands and push options of a request to `receive-pack`; see gitprotocol-pack(5). `bytes`: these as received; `rest`: bytes
 * received after them. A request that ends too early is passed on, and git rejects it.
 * @throws {GitError} `bad-request`
 */
export async function readPushHead(
  request: AsyncIterator<Buffer>,
): Promise<PushHead & { bytes: Buffer; rest: Buffer }> {
  const packets = new PacketReader(request, maxPushHead)
  try {
    const commands = (await packets.section()) ?? []
    const capabilities = new Set(commands.flatMap((command) => command.split('\0')[1]?.split(' ') ?? []))
    if (capabilities.has('push-options')) await packets.section()
    const refs = commands.flatMap((command) => /^[0-9a-f]{40} [0-9a-f]{40} ([^\0]+)/.exec(command)?.[1] ?? [])
    return { refs, capabilities, ...packets.split() }
  } catch (cause) {
    if (!(cause instanceof PktLineError)) throw cause
    throw new GitError('bad-request', packets.isFull ? 'a push has too many refs or options' : cause.message, { cause })
  }
}

/** Returns the response of `receive-pack` that rejects every ref of a push for one reason; empty for a client that wants no report. */
export function rejectPush({ refs, capabilities }: PushHead, reason: string): Buffer {
  if (refs.length === 0 || !(capabilities.has('report-status') || capabilities.has('report-status-v2'))) {
    return Buffer.alloc(0)
  }
  const lines = ['unpack ok\n', ...refs.map((ref) => `ng ${ref} ${reason}\n`)]
  const report = Buffer.concat([...lines.map(encodePacket), flushPacket])
  return capabilities.has('side-band-64k') ? Buffer.concat([...inBand(report), flushPacket]) : report
}

/** Yields the side-band packets that carry a report. */
function* inBand(report: Buffer): Generator<Buffer> {
  for (let at = 0; at < report.length; at += maxBand) {
    yield encodePacket(Buffer.concat([Buffer.from([1]), report.subarray(at, at + maxBand)]))
  }
}

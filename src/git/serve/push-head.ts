import { GitError } from '../git-error.ts'
import { decodePacket, encodePacket, flushPacket, PktLineError, packetText } from './pkt-line.ts'

/** Head of a push: the refs that it would move, and the client's capabilities. */
export type PushHead = { refs: readonly string[]; capabilities: ReadonlySet<string> }

/** Bytes of commands and push options; far more than any push has that is taken. */
const maxPushHead = 1024 * 1024
/** Bytes of a side-band packet beside its length and band. */
const maxBand = 65_515

/**
 * Reads the commands and push options of a request to `receive-pack`; see gitprotocol-pack(5). `bytes` is what they
 * are in the request, `rest` what was read beyond. A request that ends too early gives what there is: git rejects it.
 * @throws {GitError} `bad-request`
 */
export async function readPushHead(
  request: AsyncIterator<Buffer>,
): Promise<PushHead & { bytes: Buffer; rest: Buffer }> {
  const refs: string[] = []
  const chunks: Buffer[] = []
  let capabilities: ReadonlySet<string> = new Set()
  let rest: Buffer = Buffer.alloc(0)
  let [isFirst, length] = [true, 0]
  for (let sections = 1; sections > 0; ) {
    const next = decode(rest)
    if (next === undefined) {
      const more = await request.next()
      if (more.done === true) break
      if (length > maxPushHead) throw new GitError('bad-request', 'a push has too many refs or options')
      chunks.push(more.value)
      length += more.value.length
      rest = Buffer.concat([rest, more.value])
      continue
    }
    rest = rest.subarray(next.end)
    if (next.packet.kind !== 'line') {
      sections--
      if (isFirst && capabilities.has('push-options')) sections++
      isFirst = false
    } else if (isFirst) {
      const [command = '', offered] = packetText(next.packet.payload).split('\0')
      if (offered !== undefined) capabilities = new Set(offered.split(' '))
      const ref = /^[0-9a-f]{40} [0-9a-f]{40} (.+)$/.exec(command)?.[1]
      if (ref !== undefined) refs.push(ref)
    }
  }
  const bytes = Buffer.concat(chunks)
  return { refs, capabilities, bytes: bytes.subarray(0, length - rest.length), rest }
}

function decode(bytes: Buffer): ReturnType<typeof decodePacket> {
  try {
    return decodePacket(bytes)
  } catch (cause) {
    if (!(cause instanceof PktLineError)) throw cause
    throw new GitError('bad-request', cause.message, { cause })
  }
}

/** The answer of `receive-pack` that rejects every ref of a push for one reason; none to a client that wants no report. */
export function rejectPush({ refs, capabilities }: PushHead, reason: string): Buffer {
  if (refs.length === 0 || !(capabilities.has('report-status') || capabilities.has('report-status-v2'))) {
    return Buffer.alloc(0)
  }
  const lines = ['unpack ok\n', ...refs.map((ref) => `ng ${ref} ${reason}\n`)]
  const report = Buffer.concat([...lines.map(encodePacket), flushPacket])
  return capabilities.has('side-band-64k') ? Buffer.concat([...inBand(report), flushPacket]) : report
}

/** Packets of the side-band that carries a report. */
function* inBand(report: Buffer): Generator<Buffer> {
  for (let at = 0; at < report.length; at += maxBand) {
    yield encodePacket(Buffer.concat([Buffer.from([1]), report.subarray(at, at + maxBand)]))
  }
}

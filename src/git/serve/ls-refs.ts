import { decodePacket, type Packet, PktLineError, packetText } from './pkt-line.ts'

/** A request for refs is far smaller; one that is not is served without a look at it. */
const maxPeek = 64 * 1024

/**
 * Looks at how a request of protocol v2 to `upload-pack` begins (gitprotocol-v2(5)).
 * @returns the prefixes that an `ls-refs` asks for, none where it asks for all refs or for too many; undefined for any other
 * request, also one that git will refuse. `body` is the whole request.
 */
export async function peekLsRefs(
  request: AsyncIterable<Buffer>,
): Promise<{ refPrefixes: readonly string[] | undefined; body: AsyncIterable<Buffer> }> {
  const rest = request[Symbol.asyncIterator]()
  let seen = Buffer.alloc(0)
  let ended = false
  let refPrefixes: readonly string[] | 'incomplete' | undefined = 'incomplete'
  while (refPrefixes === 'incomplete' && !ended) {
    const next = await rest.next()
    if (next.done === true) ended = true
    else seen = Buffer.concat([seen, next.value])
    refPrefixes = refPrefixesOf(seen)
  }
  return { refPrefixes: refPrefixes === 'incomplete' ? undefined : refPrefixes, body: joined(seen, rest) }
}

async function* joined(seen: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield seen
  yield* { [Symbol.asyncIterator]: () => rest }
}

function refPrefixesOf(bytes: Buffer): readonly string[] | 'incomplete' | undefined {
  const prefixes: string[] = []
  try {
    const first = decodePacket(bytes)
    if (first === undefined) return 'incomplete'
    if (textOf(first.packet) !== 'command=ls-refs') return undefined
    for (let at = first.end; at <= maxPeek; ) {
      const next = decodePacket(bytes, at)
      if (next === undefined) return bytes.length > maxPeek ? [] : 'incomplete'
      if (next.packet.kind === 'flush') return prefixes
      const prefix = /^ref-prefix (.*)$/s.exec(textOf(next.packet) ?? '')?.[1]
      if (prefix !== undefined) prefixes.push(prefix)
      at = next.end
    }
    return []
  } catch (error) {
    if (error instanceof PktLineError) return undefined
    throw error
  }
}

function textOf(packet: Packet): string | undefined {
  return packet.kind === 'line' ? packetText(packet.payload) : undefined
}

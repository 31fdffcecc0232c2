/** Packet of git's wire protocol (gitprotocol-common(5)): a line, or one of the marks that separate lines. */
export type Packet = { kind: 'line'; payload: Buffer } | { kind: 'flush' | 'delimiter' | 'response-end' }

export class PktLineError extends Error {}

const lengthBytes = 4
const maxLength = 65_520
const marks = { 0: 'flush', 1: 'delimiter', 2: 'response-end' } as const

export const flushPacket = Buffer.from('0000')

/** Encodes a line as a packet. @throws {PktLineError} for more than 65,516 bytes */
export function encodePacket(line: string | Buffer): Buffer {
  const payload = typeof line === 'string' ? Buffer.from(line) : line
  const length = payload.length + lengthBytes
  if (length > maxLength) throw new PktLineError('A line is too long for a packet')
  return Buffer.concat([Buffer.from(length.toString(16).padStart(lengthBytes, '0')), payload])
}

/** Returns the packet at an offset and the offset after it, or undefined while it is incomplete. @throws {PktLineError} */
export function decodePacket(bytes: Buffer, offset = 0): { packet: Packet; end: number } | undefined {
  if (bytes.length - offset < lengthBytes) return undefined
  const digits = bytes.toString('latin1', offset, offset + lengthBytes)
  if (!/^[0-9a-f]{4}$/i.test(digits)) throw new PktLineError('A packet does not begin with its length')
  const length = Number.parseInt(digits, 16)
  if (length === 0 || length === 1 || length === 2)
    return { packet: { kind: marks[length] }, end: offset + lengthBytes }
  if (length < lengthBytes || length > maxLength) throw new PktLineError('A packet cannot have this length')
  const end = offset + length
  if (end > bytes.length) return undefined
  return { packet: { kind: 'line', payload: bytes.subarray(offset + lengthBytes, end) }, end }
}

/** Reads packets to the end of a stream. @throws {PktLineError}, also if the stream ends within a packet */
export async function* readPackets(stream: AsyncIterable<Buffer>): AsyncGenerator<Packet> {
  let rest = Buffer.alloc(0)
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk])
    for (let next = decodePacket(rest); next !== undefined; next = decodePacket(rest)) {
      rest = rest.subarray(next.end)
      yield next.packet
    }
  }
  if (rest.length > 0) throw new PktLineError('The stream ends within a packet')
}

/** Reads packets at the beginning of a stream. All received bytes stay available for the next reader. */
export class PacketReader {
  readonly #stream: AsyncIterator<Buffer>
  readonly #maxBytes: number
  #received: Buffer = Buffer.alloc(0)
  #end = 0

  /** Creates a reader. @param maxBytes bytes after which no more are received */
  constructor(stream: AsyncIterator<Buffer>, maxBytes: number) {
    this.#stream = stream
    this.#maxBytes = maxBytes
  }

  get received(): Buffer {
    return this.#received
  }

  /** True if more bytes have been received than is allowed. */
  get isFull(): boolean {
    return this.#received.length > this.#maxBytes
  }

  /** Returns the bytes of the packets that were read, and the received bytes after them. */
  split(): { bytes: Buffer; rest: Buffer } {
    return { bytes: this.#received.subarray(0, this.#end), rest: this.#received.subarray(this.#end) }
  }

  /** Returns the next packet; undefined if the stream ends within or before it. @throws {PktLineError}, also for too many bytes */
  async next(): Promise<Packet | undefined> {
    for (;;) {
      const next = decodePacket(this.#received, this.#end)
      if (next !== undefined) {
        this.#end = next.end
        return next.packet
      }
      if (this.isFull) throw new PktLineError('A request has too many lines')
      const { done, value } = await this.#stream.next()
      if (done === true) return undefined
      this.#received = Buffer.concat([this.#received, value])
    }
  }

  /** Returns the texts of the lines up to a mark; undefined if the stream ends before. @throws {PktLineError} as {@link next} */
  async section(): Promise<string[] | undefined> {
    const lines: string[] = []
    for (let packet = await this.next(); packet !== undefined; packet = await this.next()) {
      if (packet.kind !== 'line') return lines
      lines.push(packetText(packet.payload))
    }
    return undefined
  }
}

/** Returns a line's text without its optional final newline. */
export function packetText(payload: Buffer): string {
  return payload.toString('utf8').replace(/\n$/, '')
}

/** Yields bytes that were read ahead, and then the rest of their stream. */
export async function* startingWith(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* { [Symbol.asyncIterator]: () => rest }
}

/** Divisor that splits an integer of {@link ByteWriter.long} in two halves. */
const half = 2 ** 28

/** Growing byte buffer. Integers are written in base 128, least significant bits first (LEB128). */
export class ByteWriter {
  #bytes = new Uint8Array(1024)
  length = 0

  /** Bytes written so far, as a view that is valid until the next write. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
  }

  /** Writes an integer. @param value 0 to 2^32 - 1 */
  varint(value: number): void {
    if (this.length + 5 > this.#bytes.length) this.#bytes = grown(this.#bytes, this.length + 5)
    let rest = value
    while (rest >= 128) {
      this.#bytes[this.length++] = (rest & 127) | 128
      rest >>>= 7
    }
    this.#bytes[this.length++] = rest
  }

  /** Writes an integer. @param value 0 to 2^53 - 1 */
  long(value: number): void {
    this.varint(value % half)
    this.varint(Math.floor(value / half))
  }

  bytes(source: Uint8Array, start = 0, end = source.length): void {
    const next = this.length + end - start
    if (next > this.#bytes.length) this.#bytes = grown(this.#bytes, next)
    if (end - start < 16) for (let at = start; at < end; at++) this.#bytes[this.length + at - start] = source[at] ?? 0
    else this.#bytes.set(source.subarray(start, end), this.length)
    this.length = next
  }
}

export class ByteReader {
  readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  varint(): number {
    let byte = this.bytes[this.at++] ?? 0
    if (byte < 128) return byte
    let value = byte & 127
    let shift = 7
    do {
      byte = this.bytes[this.at++] ?? 0
      value |= (byte & 127) << shift
      shift += 7
    } while (byte >= 128 && shift < 35)
    return value >>> 0
  }

  long(): number {
    const low = this.varint()
    return low + half * this.varint()
  }

  /** Skips `count` integers. */
  skip(count: number): void {
    for (let left = count; left > 0 && this.at < this.bytes.length; this.at++) {
      if ((this.bytes[this.at] ?? 0) < 128) left--
    }
  }
}

/** Returns a longer copy of a typed array, so that it has room for `length` elements and twice as many as before. */
export function grown<Elements extends Uint8Array | Uint32Array | Int32Array | Float64Array>(
  array: Elements,
  length: number,
): Elements {
  const longer = new (array.constructor as new (length: number) => Elements)(Math.max(length, 2 * array.length))
  longer.set(array)
  return longer
}

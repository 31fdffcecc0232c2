const leastSize = 4096
/** Longer memory is let go, so that one big text does not keep it. */
const mostSize = 2 ** 16

let free: Uint16Array<ArrayBuffer> | undefined

/**
 * Returns the UTF-16 units of a text, which are read several times as fast as `charCodeAt` reads a text that is a part of a longer one.
 * They are valid until they are given back; see {@link releaseUnits}.
 */
export function unitsOf(text: string): Uint16Array<ArrayBuffer> {
  const memory = free !== undefined && free.length >= text.length ? free : allocated(text.length)
  free = undefined
  Buffer.from(memory.buffer).write(text, 'utf16le')
  return memory.subarray(0, text.length)
}

/** Lets the next text use the memory of one that is not needed any more. */
export function releaseUnits({ buffer }: Uint16Array<ArrayBuffer>): void {
  if (buffer.byteLength <= 2 * mostSize) free = new Uint16Array(buffer)
}

function allocated(length: number): Uint16Array<ArrayBuffer> {
  return new Uint16Array(Math.max(leastSize, length))
}

import { GitError } from '../git-error.ts'

/** A number of 7 bits a byte, the least significant first, and where it ends. */
export function readSize(data: Buffer, at: number): { value: number; end: number } {
  let [value, scale, end] = [0, 1, at]
  for (;;) {
    const byte = data[end++]
    if (byte === undefined || scale > Number.MAX_SAFE_INTEGER)
      throw new GitError('corrupt-object', 'a size is cut short')
    value += (byte & 0x7f) * scale
    scale *= 128
    if (byte < 0x80) return { value, end }
  }
}

/** Returns the size of a delta's result, in bytes. @throws {GitError} `corrupt-object` */
export function resultSize(delta: Buffer): number {
  return readSize(delta, readSize(delta, 0).end).value
}

/** Applies a delta of gitformat-pack(5) to its base. @throws {GitError} `corrupt-object` */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const from = readSize(delta, 0)
  const to = readSize(delta, from.end)
  if (from.value !== base.length) throw corrupt()
  const result = Buffer.allocUnsafe(to.value)
  let [at, filled] = [to.end, 0]
  while (at < delta.length) {
    const instruction = delta[at++] ?? 0
    if (instruction >= 0x80) {
      let [start, length] = [0, 0]
      for (let byte = 0; byte < 4; byte++) if (instruction & (1 << byte)) start += (delta[at++] ?? 0) * 256 ** byte
      for (let byte = 0; byte < 3; byte++) if (instruction & (0x10 << byte)) length += (delta[at++] ?? 0) << (8 * byte)
      if (length === 0) length = 0x10000
      if (start + length > base.length || filled + length > result.length) throw corrupt()
      base.copy(result, filled, start, start + length)
      filled += length
    } else {
      // An instruction of zero is reserved.
      if (instruction === 0 || at + instruction > delta.length || filled + instruction > result.length) throw corrupt()
      delta.copy(result, filled, at, at + instruction)
      at += instruction
      filled += instruction
    }
  }
  if (filled !== result.length) throw corrupt()
  return result
}

function corrupt(): GitError {
  return new GitError('corrupt-object', 'a delta does not fit its base')
}

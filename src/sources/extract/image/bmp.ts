/** Bits of a pixel that are read, all without compression. */
const depths: ReadonlySet<number> = new Set([1, 4, 8, 24, 32])

/**
 * Decodes a bitmap of Windows (BITMAPINFOHEADER and its successors).
 * @throws {Error} where it is damaged or compressed
 */
export function bmpPixels(bytes: Buffer): { width: number; height: number; data: Uint8Array } {
  const start = bytes.readUInt32LE(10)
  const headerSize = bytes.readUInt32LE(14)
  const [width, signedHeight] = [bytes.readInt32LE(18), bytes.readInt32LE(22)]
  const depth = bytes.readUInt16LE(28)
  const compression = bytes.readUInt32LE(30)
  // 3 names the masks of its colours, which are these with 32 bits.
  if (!depths.has(depth) || !(compression === 0 || (compression === 3 && depth === 32))) {
    throw new Error('The bitmap is compressed.')
  }
  const height = Math.abs(signedHeight)
  const rowSize = Math.ceil((width * depth) / 32) * 4
  const palette = 14 + headerSize
  const data = new Uint8Array(4 * width * height)
  for (let y = 0; y < height; y++) {
    const row = start + rowSize * (signedHeight > 0 ? height - 1 - y : y)
    for (let x = 0; x < width; x++) {
      const colour = depth >= 24 ? row + (x * depth) / 8 : palette + 4 * indexAt(bytes, row, x, depth)
      const at = 4 * (y * width + x)
      data[at] = bytes.readUInt8(colour + 2)
      data[at + 1] = bytes.readUInt8(colour + 1)
      data[at + 2] = bytes.readUInt8(colour)
      data[at + 3] = 255
    }
  }
  return { width, height, data }
}

function indexAt(bytes: Buffer, row: number, x: number, depth: number): number {
  const bit = x * depth
  return (bytes.readUInt8(row + (bit >> 3)) >> (8 - depth - (bit & 7))) & ((1 << depth) - 1)
}

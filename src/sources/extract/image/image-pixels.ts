import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import decodeWebp, { init as initWebp } from '@jsquash/webp/decode.js'
import { GifReader } from 'omggif'
import { PNG } from 'pngjs'
import type { ImageHeader } from './image-header.ts'

/** Shades of grey, one byte a pixel, row by row, on white where the picture is transparent. Of an animation, the first frame. */
export type GreyPixels = { width: number; height: number; data: Buffer }

/** Red, green, blue and alpha. */
type Pixels = { width: number; height: number; data: Uint8Array | Uint8ClampedArray }

/** Bits of a pixel that are read, all without compression. */
const depths: ReadonlySet<number> = new Set([1, 4, 8, 24, 32])

/** @throws {Error} of its decoder where the picture is damaged */
export async function greyPixels(type: ImageHeader['type'], bytes: Buffer): Promise<GreyPixels> {
  return greyOf(await pixelsOf(type, bytes))
}

export function greyOf({ width, height, data }: Pixels): GreyPixels {
  const grey = Buffer.allocUnsafe(width * height)
  for (let at = 0; at < grey.length; at++) {
    const [red = 0, green = 0, blue = 0] = [data[4 * at], data[4 * at + 1], data[4 * at + 2]]
    const alpha = (data[4 * at + 3] ?? 255) / 255
    // Weights of ITU-R BT.601.
    grey[at] = 255 - alpha * (255 - (0.299 * red + 0.587 * green + 0.114 * blue))
  }
  return { width, height, data: grey }
}

async function pixelsOf(type: ImageHeader['type'], bytes: Buffer): Promise<Pixels> {
  if (type === 'webp') return webpPixels(bytes)
  if (type === 'bmp') return bmpPixels(bytes)
  return type === 'gif' ? gifPixels(bytes) : PNG.sync.read(bytes)
}

function gifPixels(bytes: Buffer): Pixels {
  const reader = new GifReader(bytes)
  const { width, height } = reader
  const data = new Uint8Array(4 * width * height)
  reader.decodeAndBlitFrameRGBA(0, data)
  return { width, height, data }
}

async function webpPixels(bytes: Buffer): Promise<Pixels> {
  const codec = import.meta.resolve('@jsquash/webp/codec/dec/webp_dec.wasm')
  // Without its binary the module would ask `fetch` for it, which does not read files in Node.
  const options = { noInitialRun: true, wasmBinary: await readFile(fileURLToPath(codec)) }
  await initWebp(options)
  return decodeWebp(new Uint8Array(bytes).buffer)
}

/**
 * Decodes a bitmap of Windows (BITMAPINFOHEADER and its successors).
 * @throws {Error} where it is damaged or compressed
 */
function bmpPixels(bytes: Buffer): { width: number; height: number; data: Uint8Array } {
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

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

export async function greyPixels(type: ImageHeader['type'], bytes: Buffer): Promise<GreyPixels> {
  return greyOf(await pixelsOf(type, bytes))
}

function greyOf({ width, height, data }: Pixels): GreyPixels {
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

/** Facts from the first bytes of a picture. */
export type ImageHeader = {
  type: 'png' | 'jpeg' | 'gif' | 'webp'
  /** Pixels, as stored. */
  width: number
  height: number
  /** EXIF orientation, 1 to 8. */
  orientation: number
  /** Channels of a pixel; 0 if they are not needed. */
  channels: number
}

/** Returns the facts of a picture, or undefined if its type is unknown or its size cannot be found. */
export function imageHeader(bytes: Buffer): ImageHeader | undefined {
  try {
    const header = pngHeader(bytes) ?? gifHeader(bytes) ?? webpHeader(bytes) ?? jpegHeader(bytes)
    return header && header.width > 0 && header.height > 0 ? header : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function pngHeader(bytes: Buffer): ImageHeader | undefined {
  if (bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n' || bytes.toString('latin1', 12, 16) !== 'IHDR')
    return undefined
  return upright('png', bytes.readUInt32BE(16), bytes.readUInt32BE(20))
}

function gifHeader(bytes: Buffer): ImageHeader | undefined {
  if (!/^GIF8[79]a/.test(bytes.toString('latin1', 0, 6))) return undefined
  return upright('gif', bytes.readUInt16LE(6), bytes.readUInt16LE(8))
}

/** Parses the header of a WebP file, see https://developers.google.com/speed/webp/docs/riff_container */
function webpHeader(bytes: Buffer): ImageHeader | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined
  const chunk = bytes.toString('latin1', 12, 16)
  if (chunk === 'VP8X') return upright('webp', bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1)
  if (chunk === 'VP8 ') return upright('webp', bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff)
  if (chunk !== 'VP8L') return undefined
  const bits = bytes.readUInt32LE(21)
  return upright('webp', (bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
}

function upright(type: ImageHeader['type'], width: number, height: number): ImageHeader {
  return { type, width, height, orientation: 1, channels: 0 }
}

/** Reads the segments of a JPEG (ITU-T T.81) up to the frame header. */
function jpegHeader(bytes: Buffer): ImageHeader | undefined {
  if (bytes.readUInt16BE(0) !== 0xffd8) return undefined
  let orientation = 1
  for (let at = 2; at < bytes.length; ) {
    if (bytes.readUInt8(at) !== 0xff) return undefined
    const marker = bytes.readUInt8(at + 1)
    if (marker === 0xff) {
      at += 1
      continue
    }
    const content = at + 4
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      const [height, width] = [bytes.readUInt16BE(content + 1), bytes.readUInt16BE(content + 3)]
      return { type: 'jpeg', width, height, orientation, channels: bytes.readUInt8(content + 5) }
    }
    const length = bytes.readUInt16BE(at + 2)
    if (marker === 0xe1) orientation = exifOrientation(bytes.subarray(content, at + 2 + length)) ?? orientation
    at += 2 + length
  }
  return undefined
}

/** Returns the orientation: tag 0x0112 of the first directory of EXIF, which is a small TIFF. */
function exifOrientation(segment: Buffer): number | undefined {
  if (segment.toString('latin1', 0, 6) !== 'Exif\0\0' || segment.length < 20) return undefined
  const tiff = segment.subarray(6)
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const read16 = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  if (directory + 2 > tiff.length) return undefined
  for (
    let entry = directory + 2, left = read16(directory);
    left > 0 && entry + 12 <= tiff.length;
    entry += 12, left--
  ) {
    if (read16(entry) !== 0x0112) continue
    const value = read16(entry + 8)
    return value >= 1 && value <= 8 ? value : undefined
  }
  return undefined
}

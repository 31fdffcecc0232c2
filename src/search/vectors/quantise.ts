/** A vector of length 1 as signed bytes: a component is `scale` times its byte, -127 to 127. */
export type Quantised = { scale: number; bytes: Int8Array }

const largest = 127
/** Bytes of the scale in a blob. */
export const scaleLength = 4

/** Quantises the direction of a vector to a byte per component. @param vector finite, and not all zeros */
export function quantise(vector: Float32Array): Quantised {
  // Sums in 64 bits: squares of 32-bit floats can overflow 32 bits.
  let [squares, peak] = [0, 0]
  for (const component of vector) {
    squares += component * component
    peak = Math.max(peak, Math.abs(component))
  }
  const bytes = Int8Array.from(vector, (component) => Math.round((component / peak) * largest))
  return { scale: Math.fround(peak / Math.sqrt(squares) / largest), bytes }
}

/** Returns the cosine of two vectors of equal length. */
export function cosine(a: Quantised, b: Quantised): number {
  let product = 0
  for (let at = 0; at < a.bytes.length; at++) product += (a.bytes[at] ?? 0) * (b.bytes[at] ?? 0)
  return product * a.scale * b.scale
}

/** Serialises a vector: the scale as a 32-bit float, little-endian, then the bytes. */
export function toBlob({ scale, bytes }: Quantised): Uint8Array {
  const blob = new Uint8Array(scaleLength + bytes.length)
  new DataView(blob.buffer).setFloat32(0, scale, true)
  blob.set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length), scaleLength)
  return blob
}

export function fromBlob(blob: Uint8Array): Quantised {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  const bytes = new Int8Array(blob.buffer, blob.byteOffset + scaleLength, blob.byteLength - scaleLength)
  return { scale: view.getFloat32(0, true), bytes }
}

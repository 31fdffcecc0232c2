/** Returns a longer copy of a typed array, so that it has room for `length` elements and twice as many as before. */
export function grown<Elements extends Uint8Array | Uint32Array | Int32Array | Float64Array>(
  array: Elements,
  length: number,
): Elements {
  const longer = new (array.constructor as new (length: number) => Elements)(Math.max(length, 2 * array.length))
  longer.set(array)
  return longer
}

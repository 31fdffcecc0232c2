/** Returns a function that computes each result once, and caches it. */
export function memoized<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => known.getOrInsertComputed(key, compute)
}

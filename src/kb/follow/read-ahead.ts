/** Maximum weight of a chunk that is read and parsed at a time while the projection catches up with git. */
const chunkWeight = 500

/** Groups items into chunks of similar weight, which bounds the memory in use. */
export async function* chunksOf<Item>(
  items: AsyncIterable<Item>,
  weightOf: (item: Item) => number,
): AsyncGenerator<Item[]> {
  let chunk: Item[] = []
  let weight = 0
  for await (const item of items) {
    chunk.push(item)
    weight += weightOf(item)
    if (weight < chunkWeight) continue
    yield chunk
    chunk = []
    weight = 0
  }
  yield chunk
}

/** Reads the next chunk while the consumer processes the previous one. */
export async function* readAhead<Chunk, Result>(
  chunks: AsyncIterable<Chunk> | Iterable<Chunk>,
  read: (chunk: Chunk) => Promise<Result>,
): AsyncGenerator<Result> {
  let ahead: Promise<Result> | undefined
  for await (const chunk of chunks) {
    const next = read(chunk)
    next.catch(() => {}) // The error is thrown where the promise is awaited, or nowhere if the consumer has stopped.
    if (ahead !== undefined) yield await ahead
    ahead = next
  }
  if (ahead !== undefined) yield await ahead
}

/**
 * Processes all items, `count` at a time. After an error no more are started; it is thrown once the running ones have ended.
 */
export async function forEachAtOnce<Item>(
  items: Iterable<Item>,
  count: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items].reverse()
  const workNext = async () => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      await work(item).catch((error: unknown) => {
        waiting.length = 0
        throw error
      })
    }
  }
  const done = await Promise.allSettled(Array.from({ length: count }, workNext))
  const failed = done.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

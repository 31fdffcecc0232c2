import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type BroughtSentence, sentenceOrigins, type TextVersion } from '../../rules/neurons/sentence-origins.ts'

/**
 * Task of a worker. `versions`: oldest first. `within`: see {@link sentenceOrigins}. `start`: UTF-16 offset of the first requested
 * sentence.
 */
export type OriginsTask = {
  versions: readonly TextVersion[]
  language: string
  within?: string | undefined
  start: number
}

/** Sentences from `start` on, and the offset of the next one if there are more. */
export type OriginsResult = { sentences: BroughtSentence[]; nextStart: number | undefined }

/** Maximum sentences of a result: more would block the thread that receives it. */
const maxSentences = 2_500

/** Sentences of the latest pages, kept for requests of the same page or of its next sentences. */
const kept = new LRUCache<string, BroughtSentence[]>({ maxSize: 250_000, sizeCalculation: ({ length }) => 1 + length })

/** Runs in a worker thread: a page may have 250,000 sentences, and each version is compared with the previous one. */
export default function origins({ start, ...task }: OriginsTask): OriginsResult {
  const key = createHash('sha256').update(JSON.stringify(task)).digest('base64')
  const all = kept.get(key) ?? sentenceOrigins(task.versions, task.language, task.within)
  kept.set(key, all)
  const found = all.filter(({ sentence }) => sentence.start >= start)
  return { sentences: found.slice(0, maxSentences), nextStart: found[maxSentences]?.sentence.start }
}

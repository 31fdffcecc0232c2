import { generateNotes } from './notes.ts'

export type GeneratedChunk = { title: string; text: string }

/** Characters of a chunk, more or less. */
const chunkSize = 1000

/** Texts of about 1 KB made of generated notes, without their front matter. */
export function* generateChunks(count: number): Generator<GeneratedChunk> {
  let made = 0
  for (let seed = 1; made < count; seed++) {
    let text = ''
    for (const note of generateNotes(1000, seed)) {
      text += note.text.replace(/^---[\s\S]*?\n---\n/, '')
      if (text.length < chunkSize) continue
      yield { title: note.title, text: text.slice(0, 1.5 * chunkSize) }
      text = ''
      if (++made === count) return
    }
  }
}

/** Queries of so many words that one chunk holds, at least four letters long, as people choose words that tell. */
export function queriesOf(chunks: readonly GeneratedChunk[], words: number, count: number): string[][] {
  const queries: string[][] = []
  for (let n = 0; queries.length < count; n++) {
    const { text = '' } = chunks[(n * 7919) % chunks.length] ?? {}
    const known = [...new Set(text.toLowerCase().match(/\b[a-z]{4,}\b/g) ?? [])]
    if (known.length < words) continue
    queries.push(Array.from({ length: words }, (_, at) => known[(n * 31 + at * 17) % known.length] ?? ''))
  }
  return queries.filter((query) => new Set(query).size === words)
}

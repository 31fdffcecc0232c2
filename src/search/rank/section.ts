import type { Chunk } from '../../rules/neurons/chunk.ts'

/** Characters that a section has at most, to be read in one go. */
const maxLength = 2000

/**
 * A chunk with its neighbours under the same headings, as many as fit: those that follow, then those before.
 * @param ids of the page's chunks, in order. @param at which of them it is about.
 * @returns ids, in order.
 */
export function sectionAround(ids: readonly number[], at: number, chunkOf: (id: number) => Chunk): number[] {
  const [chunk] = ids.slice(at, at + 1)
  if (chunk === undefined) return []
  const { headings, content } = chunkOf(chunk)
  const path = headings.join('\n')
  let length = content.length
  const fitting = (candidates: readonly number[]): number[] => {
    const taken: number[] = []
    for (const id of candidates) {
      const next = chunkOf(id)
      length += separator.length + next.content.length
      if (length > maxLength || next.headings.join('\n') !== path) break
      taken.push(id)
    }
    return taken
  }
  const after = fitting(ids.slice(at + 1))
  const before = fitting(ids.slice(0, at).reverse())
  return [...before.reverse(), chunk, ...after]
}

const separator = '\n\n'

export function joinChunks(chunks: readonly Chunk[]): Chunk {
  return {
    headings: chunks[0]?.headings ?? [],
    content: chunks.map(({ content }) => content).join(separator),
    text: chunks.map(({ text }) => text).join('\n'),
  }
}

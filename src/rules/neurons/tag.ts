import { fold } from '../text/fold.ts'

/** Returns the key under which spellings of a tag meet: without case, diacritics and `#`. */
export function tagKey(tag: string): string {
  return fold(tag.trim().replace(/^#/, ''))
}

/** Returns a Neuron's own tags and those of its text, each once in whatever spelling. */
export function joinTags(own: readonly string[], inline: readonly string[]): string[] {
  const known = new Set(own.map(tagKey))
  const added = inline.filter((tag) => {
    const isNew = !known.has(tagKey(tag))
    known.add(tagKey(tag))
    return isNew
  })
  return [...own, ...added]
}

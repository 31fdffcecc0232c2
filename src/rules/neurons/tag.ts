import { fold } from '../text/fold.ts'

/** The key under which spellings of a tag meet: no case, no diacritics, no `#`. */
export function tagKey(tag: string): string {
  return fold(tag.trim().replace(/^#/, ''))
}

/** A Neuron's own tags and those of its text, each once however it is spelled. */
export function joinTags(own: readonly string[], inline: readonly string[]): string[] {
  const known = new Set(own.map(tagKey))
  const added = inline.filter((tag) => {
    const isNew = !known.has(tagKey(tag))
    known.add(tagKey(tag))
    return isNew
  })
  return [...own, ...added]
}

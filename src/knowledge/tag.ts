import { fold } from './fold.ts'

/** The key under which spellings of a tag meet: no case, no diacritics, no `#`. */
export function tagKey(tag: string): string {
  return fold(tag.trim().replace(/^#/, ''))
}

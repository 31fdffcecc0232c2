import type { Source } from '../../store/source.ts'

/** The tags that a Source was uploaded with. */
export function tagsOf({ tags }: Pick<Source, 'tags'>): string[] {
  return tags === null ? [] : tags.split(',').filter((tag) => tag !== '')
}

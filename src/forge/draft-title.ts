/** Marker of drafts in a forge's titles: the prefix to write, and all forms that the forge recognizes. */
export type DraftMark = { prefix: string; known: RegExp }

/** Adds or removes the draft marker of a title. A title that only looks like a draft's loses that part. */
export function markedTitle(title: string, isDraft: boolean, { prefix, known }: DraftMark): string {
  return `${isDraft ? prefix : ''}${title.replace(known, '')}`
}

export function plainTitle(title: string, isDraft: boolean, { known }: DraftMark): string {
  return isDraft ? title.replace(known, '') : title
}

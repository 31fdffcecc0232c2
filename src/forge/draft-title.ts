/** How a forge marks drafts in their titles: what it puts before one, and all that it takes for such a mark. */
export type DraftMark = { prefix: string; known: RegExp }

/** A title as the forge wants it. One that only looks like a draft's loses what it does so by. */
export function markedTitle(title: string, isDraft: boolean, { prefix, known }: DraftMark): string {
  return `${isDraft ? prefix : ''}${title.replace(known, '')}`
}

export function plainTitle(title: string, isDraft: boolean, { known }: DraftMark): string {
  return isDraft ? title.replace(known, '') : title
}

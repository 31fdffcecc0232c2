export type Chunk = {
  /** Headings that it stands under, outermost first, as plain text. */
  headings: string[]
  /** Markdown: a slice of the page's content, trimmed. */
  content: string
  /** What a reader sees of it, without markup: blocks separated by newlines. */
  text: string
}

export type Chunk = {
  /** Headings that contain the chunk, outermost first, as plain text. */
  headings: string[]
  /** Markdown: a slice of the page's content. A slice of a list, quote or table repeats its markers and its head. */
  content: string
  /** Plain text of the slice, with repeated heads. Blocks are separated by newlines. */
  text: string
}

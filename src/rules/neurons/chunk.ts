export type Chunk = {
  /** Headings that it stands under, outermost first, as plain text. */
  headings: string[]
  /** Markdown: a slice of the page's content, in the marks and behind the head of what it was cut from. */
  content: string
  /** What a reader sees of it, without markup: blocks separated by newlines; the text of such a head, too. */
  text: string
}

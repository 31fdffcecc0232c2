/** A fenced block, a span of code on one line, or a comment of HTML's. Passages hold none of Obsidian's. */
const codeOrComment =
  /^[ \t]*(`{3,}|~{3,})(?:[\s\S]*?^[ \t]*\1|[\s\S]*)|(`{1,9})[^`\n]*\2|<!--(?:[\s\S]*?-->|[\s\S]*)/gm

const link = /(?<!\\)\[([^[\]]+)(?<!\\)\]\([^()\n]*\)/g

/** Markdown without the comments that its author meant for nobody to read. */
export function withoutHtmlComments(markdown: string): string {
  return markdown.replace(codeOrComment, (found) => (found.startsWith('<!--') ? '' : found))
}

/**
 * A block's Markdown with links by what they show where their targets mean nothing outside the page, and without what
 * would show nothing once quoted: images, embedded notes, the names of blocks.
 */
export function quotable(text: string): string {
  const shown = outsideCode(text, (prose) =>
    prose
      .replace(/(?<!\\)!\[\[[^[\]]*\]\]/g, '')
      .replace(
        /(?<!\\)\[\[([^[\]|\\]*)(?:\\?\|([^[\]]*))?\]\]/g,
        (_, target: string, alias?: string) => alias ?? target,
      )
      .replace(/(?<!\\)!\[[^[\]]*\](?:\([^()\n]*\))?/g, '')
      .replace(/(?<!\\)\[\s*\]\([^()\n]*\)/g, '')
      .replace(/(?<!\\)\[([^[\]]+)(?<!\\)\]\((?!https?:)[^()\s]*\)/g, '$1'),
  )
  return shown.replace(/(?:^|\s)\^[a-z0-9-]+$/i, '').trim()
}

/** What a reader sees of it, near enough to be searched: links without their targets. */
export function shownText(text: string): string {
  return outsideCode(text, (prose) => withoutTags(prose.replace(link, '$1')))
}

/** Whether it is more than a bar of links, such as a page's footer. */
export function isProse(text: string): boolean {
  const links = text.match(link) ?? []
  return links.length < 2 || /[\p{L}\p{N}]/u.test(withoutTags(text.replace(link, '')))
}

function withoutTags(text: string): string {
  return text.replace(/<[a-z/][^<>]*>/gi, ' ')
}

/** Text with what is no span of code changed. */
function outsideCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/((`+)[^`\n]*\2)/)
    .map((part, index) => (index % 3 === 0 ? change(part) : index % 3 === 1 ? part : ''))
    .join('')
}

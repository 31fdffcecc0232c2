/** Matches a fenced block, a code span on one line, or an HTML comment. Passages contain none of Obsidian's comments. */
const codeOrComment =
  /^[ \t]*(`{3,}|~{3,})(?:[\s\S]*?^[ \t]*\1|[\s\S]*)|(`{1,9})[^`\n]*\2|<!--(?:[\s\S]*?-->|[\s\S]*)/gm

const link = /(?<!\\)\[([^[\]]+)(?<!\\)\]\([^()\n]*\)/g

/** Removes HTML comments from Markdown, which the author meant for nobody to read. */
export function withoutHtmlComments(markdown: string): string {
  return markdown.replace(codeOrComment, (found) => (found.startsWith('<!--') ? '' : found))
}

/**
 * Makes a block's Markdown quotable: links that mean nothing outside the page become their text, and images, embedded notes and
 * block names are removed.
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

/** Returns the visible text, near enough to be searched: links without their targets. */
export function shownText(text: string): string {
  return outsideCode(text, (prose) => withoutTags(prose.replace(link, '$1')))
}

/** True unless the text is only a bar of links, such as a page's footer. */
export function isProse(text: string): boolean {
  const links = text.match(link) ?? []
  return links.length < 2 || /[\p{L}\p{N}]/u.test(withoutTags(text.replace(link, '')))
}

function withoutTags(text: string): string {
  return text.replace(/<[a-z/][^<>]*>/gi, ' ')
}

/** Changes text outside code spans. */
function outsideCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/((`+)[^`\n]*\2)/)
    .map((part, index) => (index % 3 === 0 ? change(part) : index % 3 === 1 ? part : ''))
    .join('')
}

/** Matches an opening or closing emphasis mark outside words: `a*b`, `snake_case` and `\*` have none. */
const mark =
  /(?<![\p{L}\p{N}*_~=\\])(?<open>\*\*|__|~~|==|\*|_)(?=[^\s*_~=])|(?<=[^\s*_~=\\])(?<close>\*\*|__|~~|==|\*|_)(?![\p{L}\p{N}*_~=])/gu
const code = /(`+)[^`]*\1/g

/** Removes unpaired emphasis marks from Markdown that was cut from a longer text, such as the first two characters of `**Backups run at night.` */
export function withoutLooseEmphasis(text: string): string {
  const open: { mark: string; at: number }[] = []
  const loose = new Map<number, string>()
  const prose = text.replace(code, (span) => 'x'.repeat(span.length))
  for (const { index, groups } of prose.matchAll(mark)) {
    const { open: opening, close: closing } = groups ?? {}
    if (opening !== undefined) {
      open.push({ mark: opening, at: index })
      continue
    }
    const last = open.findLastIndex((one) => one.mark === closing)
    if (last < 0) loose.set(index, closing ?? '')
    else for (const unclosed of open.splice(last).slice(1)) loose.set(unclosed.at, unclosed.mark)
  }
  for (const unclosed of open) loose.set(unclosed.at, unclosed.mark)
  let shown = ''
  let at = 0
  for (const [index, { length }] of [...loose].sort(([a], [b]) => a - b)) {
    shown += text.slice(at, index)
    at = index + length
  }
  return shown + text.slice(at)
}

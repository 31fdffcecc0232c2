/** Matches a fenced block, a code span, or an HTML comment. */
const codeOrComment =
  /^[ \t]*(`{3,}|~{3,})(?:[\s\S]*?^[ \t]*\1|[\s\S]*)|(`{1,9})[^`\n]*\2|<!--(?:[\s\S]*?-->|[\s\S]*)/gm
/** Matches embedded notes, images, links without text, and block names. */
const unseen =
  /(?<!\\)!\[\[[^[\]]*\]\]|(?<!\\)!\[[^[\]]*\](?:\([^()\n]*\))?|(?<!\\)\[\s*\]\([^()\n]*\)|(?:^|[ \t])\^[a-z0-9-]+$/gim
/** Matches the border of a box or a tab (MkDocs, Docusaurus, Hugo, Jekyll), or an import of MDX, on a line of its own. */
const border =
  /^[ \t]*(?:(?:!!!|\?\?\?\+?|===)(?:[ \t]+[\w-]+)*(?:[ \t]+"[^"\n]*")?|:::+[ \t]*[\w-]*(?:[ \t].*)?|\{\{[<%].*[>%]\}\}|\{%.*%\}|import[ \t].*['"];?)[ \t]*$/gm

/**
 * Returns Markdown that can be quoted outside its page: without comments, images, embedded notes and marks of quotes. Links that
 * mean nothing elsewhere become their text.
 */
export function quotableMarkdown(content: string): string {
  let shown = ''
  let at = 0
  for (const { index, 0: found } of content.matchAll(codeOrComment)) {
    shown += shownProse(content.slice(at, index)) + (found.startsWith('<!--') ? '' : found)
    at = index + found.length
  }
  return shown + shownProse(content.slice(at))
}

function shownProse(prose: string): string {
  return prose
    .replace(/^[ \t]{0,3}>[ \t]?(?:\[![\w-]+\][-+]?[ \t]*)?/gm, '')
    .replace(border, '')
    .replace(unseen, '')
    .replace(/(?<!\\)\[\[([^[\]|\\]*)(?:\\?\|([^[\]]*))?\]\]/g, (_, target: string, alias?: string) => alias ?? target)
    .replace(/(?<!\\)\[([^[\]]+)(?<!\\)\]\((?!https?:)[^()\s]*\)/g, '$1')
}

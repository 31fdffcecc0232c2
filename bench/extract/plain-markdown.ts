/** The text that Markdown shows, roughly: without the targets of links, emphasis and escapes. */
export function plainMarkdown(markdown: string): string {
  return markdown
    .replace(/<!--.*?-->/gs, ' ')
    .replace(/\]\((?:[^()\s\\]|\\.|\([^()\s]*\))*(?: "[^"]*")?\)/g, ']')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/\*+|~~|`/g, '')
}

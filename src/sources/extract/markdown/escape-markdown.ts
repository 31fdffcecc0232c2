const outward = /^(?:https?:\/\/|mailto:)[^\s<>]+$/i

/** Whether a URL is allowed in the Markdown of a document: absolute, with http, https or mailto. */
export function isOutwardLink(url: string): boolean {
  return url.length <= 2048 && outward.test(url)
}

const autolink = /<([^\s<>]*)>/y
const mailAddress = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/

/** Returns the end of an autolink to elsewhere that begins at `at`; undefined if none begins there. */
export function endOfAutolink(line: string, at: number): number | undefined {
  autolink.lastIndex = at
  const address = autolink.exec(line)?.[1]
  if (address === undefined || !(isOutwardLink(address) || mailAddress.test(address))) return undefined
  return autolink.lastIndex
}

/** Escapes text for the middle of a line of Markdown, with as few escapes as possible. */
export function asInlineMarkdown(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/[\\`*[\]<|]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/~(?=~)|(?<=~)~/g, '\\~')
    .replace(/&(?=#?\w+;)/g, '\\&')
}

/** Escapes text that is a whole paragraph, heading or item. */
export function plainLine(text: string): string {
  return asInlineMarkdown(text)
    .replace(/^(?=[-+](?: |$)|#{1,6}(?: |$)|>|[-=]+$)/, '\\')
    .replace(/^(\d{1,9})([.)])(?= |$)/, '$1\\$2')
}

/** Returns a Markdown link if its URL is allowed in a document, else its text. */
export function linkTo(address: string | undefined, label: string): string {
  const url = address === undefined ? undefined : URL.parse(address)?.href
  if (label === '' || url === undefined || !isOutwardLink(url)) return label
  return `[${label}](${url.replace(/[()\\]/g, (found) => `%${found.charCodeAt(0).toString(16)}`)})`
}

/** Matches what would be structure at the beginning of a line, or code, emphasis of several words, wiki links or HTML in it. */
const signs = /^(?:#{1,6}(?=\s|$)|>|~{3})|[`\\]|\[(?=\[)|<(?=[A-Za-z/!?])|(?<!\S)[*_](?=\S)/g

/**
 * Escapes a line of plain text, so that it reads the same as Markdown. Lists and tables written by hand stay what they look like.
 */
export function escapeText(line: string): string {
  return line.replace(signs, '\\$&')
}

import type { WikiLink } from '../../rules/neurons/neuron.ts'

/** Page or file of the knowledge base, and place in it, that a Markdown link's destination names. */
export type Destination = Pick<WikiLink, 'target' | 'heading'>

const elsewhere = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i

/**
 * Parses a relative destination: the decoded path of a file or folder, without query and fragment. Returns `undefined` for a URL with a
 * scheme or host, and for a place on the page itself.
 * @param url with Markdown's own escapes and character references resolved
 */
export function parseDestination(url: string): Destination | undefined {
  if (elsewhere.test(url)) return undefined
  const [, path = '', fragment = ''] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s.exec(url) ?? []
  // Sites serve a page at `page.md/`, too.
  const target = decoded(path)
    .trim()
    .replace(/(?<=[^/]\.(?:md|markdown|html?))\/$/i, '')
  if (target === '') return undefined
  const heading = decoded(fragment).trim()
  return { target, ...(heading === '' ? {} : { heading }) }
}

/** Returns the decoded fragment of a destination on its own page. */
export function ownFragment(url: string): string | undefined {
  return url.startsWith('#') ? decoded(url.slice(1)).trim() : undefined
}

/** Formats a path as a destination that `parseDestination` parses back, with or without angle brackets or quotes around it. */
export function formatDestination(path: string): string {
  const encoded = path.replace(/[\s%?#()<>\\&*`~[\]"'\p{Cc}]/gu, (character) =>
    encodeURIComponent(character).replace(/[()*~']/g, hexOf),
  )
  return elsewhere.test(encoded) ? `./${encoded}` : encoded
}

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

/** Decodes a path. A path that is not percent-encoded UTF-8, or would contain control characters, is returned unchanged. */
function decoded(text: string): string {
  try {
    const path = decodeURIComponent(text)
    return /\p{Cc}/u.test(path) ? text : path
  } catch {
    return text
  }
}

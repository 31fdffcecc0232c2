import type { WikiLink } from '../../rules/neurons/neuron.ts'

/** What a Markdown link's destination names in its knowledge base. */
export type Destination = Pick<WikiLink, 'target' | 'heading'>

const elsewhere = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i

/**
 * The file or folder that a relative destination names: its path, decoded, without query and fragment. `undefined` for an address with
 * a scheme or a host, and for a place within the page itself.
 * @param url with Markdown's own escapes and character references resolved
 */
export function parseDestination(url: string): Destination | undefined {
  if (elsewhere.test(url)) return undefined
  const [, path = '', fragment = ''] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s.exec(url) ?? []
  // Sites serve `page.md/` as the page.
  const target = decoded(path)
    .trim()
    .replace(/(?<=[^/]\.(?:md|markdown|html?))\/$/i, '')
  if (target === '') return undefined
  const heading = decoded(fragment).trim()
  return { target, ...(heading === '' ? {} : { heading }) }
}

/** The place within its own page that a destination names, decoded. */
export function ownFragment(url: string): string | undefined {
  return url.startsWith('#') ? decoded(url.slice(1)).trim() : undefined
}

/** A path as a destination that `parseDestination` reads back, with or without angle brackets or quotes around it. */
export function formatDestination(path: string): string {
  const encoded = path.replace(/[\s%?#()<>\\&*`~[\]"'\p{Cc}]/gu, (character) =>
    encodeURIComponent(character).replace(/[()*~']/g, hexOf),
  )
  return elsewhere.test(encoded) ? `./${encoded}` : encoded
}

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

/** A path that is not percent-encoded UTF-8, or would hold control characters, stays as it is. */
function decoded(text: string): string {
  try {
    const path = decodeURIComponent(text)
    return /\p{Cc}/u.test(path) ? text : path
  } catch {
    return text
  }
}

import { createHash } from 'node:crypto'
import { fold } from './fold.ts'
import { isReservedName } from './portable-path.ts'

/**
 * A file name (without extension) for a title: `[a-z0-9-]`, at most `maxBytes` (8 or more) bytes, safe on every file system.
 * A title without Latin letters or digits gets a short hash of itself, so that two such titles differ.
 */
export function slugify(title: string, maxBytes = 80): string {
  const words = fold(title)
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
  const slug = trimHyphens(trimHyphens(words).slice(0, maxBytes))
  if (slug === '') return title.trim() === '' ? 'untitled' : `n-${shortHash(title)}`
  return isReservedName(slug) ? `n-${slug}`.slice(0, maxBytes) : slug
}

/** The first of `slug`, `slug-2`, `slug-3`… that is not taken, at most `maxBytes` bytes. */
export function uniqueSlug(slug: string, taken: (slug: string) => boolean, maxBytes = 80): string {
  let unique = slug
  for (let n = 2; taken(unique); n++) {
    const suffix = `-${n}`
    unique = trimHyphens(slug.slice(0, maxBytes - suffix.length)) + suffix
  }
  return unique
}

function trimHyphens(text: string): string {
  return text.replace(/^-|-$/g, '')
}

function shortHash(text: string): string {
  return createHash('sha256').update(text.normalize('NFC')).digest('hex').slice(0, 6)
}

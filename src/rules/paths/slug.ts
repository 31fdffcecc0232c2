import { createHash } from 'node:crypto'
import { fold } from '../text/fold.ts'
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
  for (let n = 2; taken(unique); n++) unique = withSuffix(slug, `-${n}`, maxBytes)
  return unique
}

/** A file name with something behind it, cut where it would be longer than `maxBytes` bytes of UTF-8. `suffix` is ASCII. */
export function withSuffix(name: string, suffix: string, maxBytes = 80): string {
  const room = maxBytes - suffix.length
  if (Buffer.byteLength(name) <= room) return name + suffix
  // A character that was cut is decoded as the replacement character.
  const cut = Buffer.from(name)
    .subarray(0, room)
    .toString()
    .replace(/\ufffd$/, '')
  return trimHyphens(cut) + suffix
}

function trimHyphens(text: string): string {
  return text.replace(/^-|-$/g, '')
}

function shortHash(text: string): string {
  return createHash('sha256').update(text.normalize('NFC')).digest('hex').slice(0, 6)
}

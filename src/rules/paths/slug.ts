import { createHash } from 'node:crypto'
import { fold } from '../text/fold.ts'
import { isReservedName } from './portable-path.ts'

/**
 * Returns an ASCII key for a title: `[a-z0-9-]`, at most `maxBytes` (8 or more) bytes. A title without Latin letters or digits becomes a
 * short hash of itself, so that two such titles differ.
 */
export function slugify(title: string, maxBytes = 80): string {
  const words = fold(title)
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
  return namedSlug(title, words, maxBytes)
}

/**
 * Returns a file name (without extension) for a title that is safe on every file system: as {@link slugify}, but with the letters of all
 * scripts, in NFC. At most `maxBytes` (8 or more) bytes.
 */
export function fileSlug(title: string, maxBytes = 80): string {
  if (!hasOtherLetters(title)) return slugify(title, maxBytes)
  const words = title
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Script=Latin}\p{M}*/gu, fold)
    .replace(/['’\p{Cf}\p{Me}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/(?:[^\p{L}\p{M}\p{N}]|(?<![\p{L}\p{M}\p{N}])\p{M})+/gu, '-')
  return namedSlug(title, words.normalize('NFC'), maxBytes)
}

/** True if a title has letters that {@link slugify} drops. */
export function hasOtherLetters(title: string): boolean {
  return /(?!\p{Script=Latin})\p{L}/u.test(title)
}

function namedSlug(title: string, words: string, maxBytes: number): string {
  const slug = withSuffix(trimHyphens(words), '', maxBytes)
  if (slug === '') return title.trim() === '' ? 'untitled' : `n-${shortHash(title)}`
  return isReservedName(slug) ? `n-${slug}`.slice(0, maxBytes) : slug
}

/** Returns the first of `slug`, `slug-2`, `slug-3`… that is free, at most `maxBytes` bytes. */
export function uniqueSlug(slug: string, taken: (slug: string) => boolean, maxBytes = 80): string {
  let unique = slug
  for (let n = 2; taken(unique); n++) unique = withSuffix(slug, `-${n}`, maxBytes)
  return unique
}

/** Appends an ASCII suffix to a file name, which is cut so that the result has at most `maxBytes` bytes of UTF-8. */
export function withSuffix(name: string, suffix: string, maxBytes = 80): string {
  const room = maxBytes - suffix.length
  if (Buffer.byteLength(name) <= room) return name + suffix
  // A character cut in half is decoded as the replacement character.
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

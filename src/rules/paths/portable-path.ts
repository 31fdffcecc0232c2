import { foldCase } from '../text/fold.ts'

const maxSegmentBytes = 255
const maxPathBytes = 1024
const maxPathDepth = 16

/** Matches invisible characters and those that reorder text. HFS+ ignores most of them, so `.g\u200cit` is `.git` there. */
const invisible = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--\p{Variation_Selector}]/v
const forbidden = /[<>:"|?*\\]/
/** Replacement character, which a decoder produces for a name that is not UTF-8. */
const undecodable = '\ufffd'
const reserved = /^(con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?=\.|$)/i
/** Matches 8.3 aliases that NTFS makes for names beginning with `.git`: `git~1`, `gitmod~1`, `gi7eba~1`. */
const gitAlias = /^gi[^.~]{0,4}~[0-9]/i
/** Harmless names that begin with `.git`: settings of forges, and folders and files of curators' tools. */
const harmlessGitNames: ReadonlySet<string> = new Set([
  '.gitattributes',
  '.gitbook',
  '.gitea',
  '.github',
  '.gitlab',
  '.gitlab-ci.yml',
  '.gitignore',
  '.gitkeep',
])

/** True if Windows takes a name for a device, whatever its extension. */
export function isReservedName(name: string): boolean {
  return reserved.test(name)
}

/**
 * Returns why a path cannot be checked out safely on Windows, macOS and Linux, or exceeds a limit; undefined if it can. The reason is safe
 * to print: a hostile character is shown as its code.
 */
export function pathProblem(path: string): string | undefined {
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`
  const segments = path.split('/')
  if (segments.length > maxPathDepth) return `is more than ${maxPathDepth} levels deep`
  for (const segment of segments) {
    const problem = segmentProblem(segment)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Returns the key under which two paths are the same file on a file system that ignores case or Unicode normalization. */
export function pathKey(path: string): string {
  return foldCase(path.normalize('NFD').replace(/\p{Variation_Selector}/gu, '')).normalize('NFC')
}

function segmentProblem(segment: string): string | undefined {
  const hidden = invisible.exec(segment)?.[0]
  if (hidden !== undefined) return `has the control or invisible character ${codePoint(hidden)}`
  if (segment.includes(undecodable)) return 'has a name that is not UTF-8'
  if (segment === '') return 'has an empty name'
  if (segment === '.' || segment === '..') return `has the relative name ${segment}`
  const character = forbidden.exec(segment)?.[0]
  if (character !== undefined) return `has the character ${character}, which Windows does not allow in a name`
  if (segment !== segment.normalize('NFC')) return 'is not in Unicode normalisation form C'
  if (/[. ]$/.test(segment)) return 'has a name that ends in a dot or space, which Windows drops'
  if (Buffer.byteLength(segment) > maxSegmentBytes) return `has a name longer than ${maxSegmentBytes} bytes`
  if (isReservedName(segment)) return `has the name ${segment}, which Windows reserves`
  if (isGitName(segment)) return `has the name ${segment}, which git gives a meaning of its own`
  return undefined
}

function isGitName(segment: string): boolean {
  if (gitAlias.test(segment)) return true
  return segment.toLowerCase().startsWith('.git') && !harmlessGitNames.has(segment)
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/**
 * Returns the nearest portable path, for an import. Safe names stay; others are mended and keep their letters, spaces and extension. `.`,
 * `..` and empty names are dropped, and so are the innermost folders of a path that is too deep or too long. Two paths may become the same
 * one, so the caller compares them by `pathKey`.
 */
export function portablePath(path: string): string {
  const names = path
    .split('/')
    .map((segment) => (segmentProblem(segment) === undefined ? segment : mendedName(segment)))
  const file = names.pop() || 'untitled'
  let folders = names.filter((name) => name !== '').slice(0, maxPathDepth - 1)
  while (Buffer.byteLength([...folders, file].join('/')) > maxPathBytes) folders = folders.slice(0, -1)
  return [...folders, file].join('/')
}

/** Returns a safe name, or the empty text if nothing usable is left. */
function mendedName(segment: string): string {
  const visible = segment
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(new RegExp(invisible, 'gv'), '')
    .replace(/[<>:"|?*\\\ufffd]+/g, '-')
    .normalize('NFC')
  const extension = /(?<=[^.])\.[A-Za-z0-9]{1,16}$/.exec(visible)?.[0] ?? ''
  const stem = visible.slice(0, visible.length - extension.length).trim()
  // Cuts before the name is judged, since the cut can make a device name, and leaves room for the suffix that prevents one.
  const cut = cutToBytes(stem, maxSegmentBytes - extension.length - 1)
  const mended = cut
    .replace(/[. -]+$/, '')
    .replace(/^\.+(?=git)/i, '')
    .replace(/^gi.{0,9}/i, (start) => start.replaceAll('~', '-'))
    .replace(reserved, '$1_')
  return mended === '' && extension !== '' ? `untitled${extension}` : mended + extension
}

function cutToBytes(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text
  let bytes = 0
  let cut = ''
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > max) break
    cut += character
  }
  return cut
}

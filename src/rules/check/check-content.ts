import type { Finding } from '../neurons/neuron.ts'
import { oneLine } from '../text/lines.ts'
import { maxFileBytes } from './checked-file.ts'
import { checkConflictMarkers } from './conflict-markers.ts'

/** Maximum bytes of a pointer; see `docs/spec.md` in the repository of Git LFS. */
export const maxPointerBytes = 1024
const pointerStart = /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\/v1\r?\n/
const pointerMessage =
  'This is a Git LFS pointer, not the file: the server keeps no LFS objects. In a clone that has the file: ' +
  'git lfs untrack <pattern>, git add --renormalize ., commit, and push again.'

/** Attributes that only affect how text is compared, merged, displayed or exported, and need no program in a clone. */
const harmless: ReadonlySet<string> = new Set([
  ...['text', 'eol', 'crlf', 'binary', 'diff', 'merge', 'whitespace', 'encoding', 'delta', 'conflict-marker-size'],
  ...['export-ignore', 'export-subst'],
])
const harmlessPrefix = /^(?:linguist|gitlab)-/
/** Matches the pattern at the start of a line in `.gitattributes`. A quoted pattern may contain blanks. */
const pattern = /^(?:"(?:[^"\\]|\\.)*"|\S+)\s*/
const macro = /^\[attr\](\S+)\s*/
const removal = 'Take it out, and push the files themselves: git lfs untrack does both, in a clone that has them.'

/** True if the content of a file that is not a page is checked. A larger file is an error by itself. */
export function hasCheckedContent({ path, size }: { path: string; size: number }): boolean {
  return size <= (isAttributes(path) ? maxFileBytes : maxPointerBytes)
}

export function checkContent(path: string, text: string): Omit<Finding, 'path'>[] {
  return [...checkLfsPointer(text), ...(isAttributes(path) ? checkGitAttributes(text) : [])]
}

/** Returns findings about the text of a page, apart from its front matter. */
export function checkPageText(text: string): Omit<Finding, 'path'>[] {
  return [...checkLfsPointer(text), ...checkConflictMarkers(text)]
}

function isAttributes(path: string): boolean {
  return /(?:^|\/)\.gitattributes$/.test(path)
}

/**
 * Returns findings about a `.gitattributes` file, in any folder; see gitattributes(5). An attribute that converts files at checkout is an
 * error: `filter` breaks every clone that lacks the program, and stores other bytes than the file has.
 */
function checkGitAttributes(text: string): Omit<Finding, 'path'>[] {
  const macros = new Set<string>()
  return text.split(/\r?\n/).flatMap((written, at) => {
    const line = written.trim()
    if (line === '' || line.startsWith('#')) return []
    const [start, name] = macro.exec(line) ?? pattern.exec(line) ?? ['']
    if (name !== undefined) macros.add(name)
    const attributes = line.slice(start.length).split(/\s+/).filter(Boolean)
    const refused = attributes.filter((attribute) => !isHarmless(attribute.replace(/^[-!]|=.*$/gs, ''), macros))
    return refused.map((attribute) => finding(attribute, at + 1))
  })
}

function isHarmless(name: string, macros: ReadonlySet<string>): boolean {
  return harmless.has(name) || harmlessPrefix.test(name) || macros.has(name)
}

function finding(attribute: string, line: number): Omit<Finding, 'path'> {
  const how = attribute.startsWith('filter')
    ? `would change files on their way into a clone. ${removal}`
    : 'is not allowed.'
  return { rule: 'git-attributes', severity: 'error', line, message: `The attribute ${oneLine(attribute, 100)} ${how}` }
}

/** Returns a finding for a Git LFS pointer, whose content is not in the repository. */
export function checkLfsPointer(text: string): Omit<Finding, 'path'>[] {
  const isPointer = text.length <= maxPointerBytes && pointerStart.test(text) && /^oid sha256:[0-9a-f]{64}$/m.test(text)
  return isPointer ? [{ rule: 'lfs-pointer', severity: 'error', line: 1, message: pointerMessage }] : []
}

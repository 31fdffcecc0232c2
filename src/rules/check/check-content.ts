import type { Finding } from '../neurons/neuron.ts'
import { oneLine } from '../text/lines.ts'
import { maxFileBytes } from './check-file.ts'
import { checkConflictMarkers } from './conflict-markers.ts'
import { checkLfsPointer, maxPointerBytes } from './lfs-pointer.ts'

/** Attributes that say how text is compared, merged, shown or exported, and that no clone needs a program for. */
const harmless: ReadonlySet<string> = new Set([
  ...['text', 'eol', 'crlf', 'binary', 'diff', 'merge', 'whitespace', 'encoding', 'delta', 'conflict-marker-size'],
  ...['export-ignore', 'export-subst'],
])
const harmlessPrefix = /^(?:linguist|gitlab)-/
/** A quoted pattern may hold blanks. */
const pattern = /^(?:"(?:[^"\\]|\\.)*"|\S+)\s*/
const macro = /^\[attr\](\S+)\s*/
const removal = 'Take it out, and push the files themselves: git lfs untrack does both, in a clone that has them.'

/** Whether what a file holds matters that is no page. A larger one is an error by itself. */
export function hasCheckedContent({ path, size }: { path: string; size: number }): boolean {
  return size <= (isAttributes(path) ? maxFileBytes : maxPointerBytes)
}

export function checkContent(path: string, text: string): Omit<Finding, 'path'>[] {
  return [...checkLfsPointer(text), ...(isAttributes(path) ? checkGitAttributes(text) : [])]
}

/** Findings for the text of a page, beside those of its front matter. */
export function checkPageText(text: string): Omit<Finding, 'path'>[] {
  return [...checkLfsPointer(text), ...checkConflictMarkers(text)]
}

function isAttributes(path: string): boolean {
  return /(?:^|\/)\.gitattributes$/.test(path)
}

/**
 * Findings for a `.gitattributes` file, in any folder; see gitattributes(5). An attribute that changes files on their way into a
 * clone is an error: `filter` breaks every clone that lacks the program, and puts something else into the repository.
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

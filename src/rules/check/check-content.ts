import type { Finding } from '../neurons/neuron.ts'
import { maxFileBytes } from './check-file.ts'
import { checkConflictMarkers } from './conflict-markers.ts'
import { checkGitAttributes } from './git-attributes.ts'
import { checkLfsPointer, maxPointerBytes } from './lfs-pointer.ts'

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

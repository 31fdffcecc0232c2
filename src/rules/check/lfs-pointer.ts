import type { Finding } from '../neurons/neuron.ts'

/** Maximum size of a pointer; see `docs/spec.md` in the repository of Git LFS. */
export const maxPointerBytes = 1024
const firstLine = /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\/v1\r?\n/
const message =
  'This is a Git LFS pointer, not the file: the server keeps no LFS objects. In a clone that has the file: ' +
  'git lfs untrack <pattern>, git add --renormalize ., commit, and push again.'

/** Returns a finding for a Git LFS pointer, whose content is not in the repository. */
export function checkLfsPointer(text: string): Omit<Finding, 'path'>[] {
  const isPointer = text.length <= maxPointerBytes && firstLine.test(text) && /^oid sha256:[0-9a-f]{64}$/m.test(text)
  return isPointer ? [{ rule: 'lfs-pointer', severity: 'error', line: 1, message }] : []
}

import { GitError } from '../git-error.ts'
import type { GitObject, ObjectInfo } from './object.ts'
import { decodeEntry, sortKey } from './tree.ts'

const modes: ReadonlySet<string> = new Set(['100644', '100664', '100755', '120000', '160000', '40000'])
const nobody = '0'.repeat(40)
const person = '(?:[^<>\\n\\0]+ )?<[^<>\\n\\0]*> \\d{1,15} [+-]\\d{4}\\n'
const commit = new RegExp(`^tree [0-9a-f]{40}\\n(?:parent [0-9a-f]{40}\\n)*author ${person}committer ${person}`)
const tag = new RegExp(
  `^object [0-9a-f]{40}\\ntype (?:blob|tree|commit|tag)\\ntag [^\\n\\0]+\\n(?:tagger ${person})?\\n`,
)

/**
 * Whether an object is as git would have made it, by the rules of `git fsck` that other gits and we ourselves rely on. What names
 * may stand in a folder is not looked at.
 * @throws {GitError} `corrupt-object`
 */
export function checkObject({ type, data }: { type: ObjectInfo['type']; data: GitObject['data'] }): void {
  if (type === 'tree') checkTree(data)
  const form = type === 'commit' ? commit : type === 'tag' ? tag : undefined
  if (form !== undefined && !form.test(data.toString('latin1', 0, Math.min(data.length, 1024 * 1024)))) {
    throw new GitError('corrupt-object', `a ${type} is not as git writes it`)
  }
}

/** Each name once, in git's order, with a mode that git knows. */
function checkTree(data: Buffer): void {
  let before = ''
  const names = new Set<string>()
  for (let at = 0; at < data.length; ) {
    const { entry, end } = decodeEntry(data, at)
    const key = sortKey(entry)
    const isSound = modes.has(entry.mode) && entry.name !== '' && !entry.name.includes('/') && entry.oid !== nobody
    if (!isSound || key <= before || names.has(entry.name)) {
      throw new GitError('corrupt-object', 'a folder is not as git writes it')
    }
    names.add(entry.name)
    before = key
    at = end
  }
}

import { folderMode, fromBinaryName, type GitTreeEntry, type Oid } from '../../git/objects/object.ts'
import { type PushedFolder, pushedCommits, walkPushedTrees } from '../../git/pushed-objects.ts'
import type { Repository } from '../../git/repository.ts'
import { checkFile } from '../../rules/check/checked-file.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { pathKey, pathProblem } from '../../rules/paths/portable-path.ts'
import { oneLine } from '../../rules/text/lines.ts'

/** Maximum size of a file in any commit of a push, in bytes. The check of the last commit has further limits. */
const maxBlobBytes = 2 * 1024 * 1024
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** Result of the check. `isWhole`: every folder was checked. If not, no tree may be expanded. */
type CheckedObjects = { findings: Finding[]; isWhole: boolean }

/**
 * Checks names, modes, sizes and collisions in all commits of a push, also of files that the last commit no longer has: a clone
 * contains them too.
 * @param range without `from`: all files of the last commit, and none of earlier ones
 * @throws {PushTooLarge}
 */
export async function checkPushedObjects(
  repository: Repository,
  { from, to }: { from: Oid | undefined; to: Oid },
): Promise<CheckedObjects> {
  const commits = from === undefined ? [to] : await pushedCommits(repository, { from, to })
  const findings = new Map<string, Finding>()
  let isWhole = true
  const visit = (folder: PushedFolder) => {
    const { found, folders, skipped } = checkFolder(folder)
    for (const finding of found) {
      const { path, rule, message } = finding
      const isEarlier = folder.commit !== to
      const named = { ...finding, message: isEarlier ? `${message} (commit ${folder.commit.slice(0, 7)})` : message }
      const key = `${rule} ${path}`
      if (!findings.has(key)) findings.set(key, named)
    }
    if (skipped > 0) isWhole = false
    return folders
  }
  await walkPushedTrees(repository, commits, visit, { isWhole: from === undefined })
  return { findings: [...findings.values()], isWhole }
}

function checkFolder({ prefix, tree, changed, added, sizes }: PushedFolder): {
  found: Finding[]
  folders: GitTreeEntry[]
  skipped: number
} {
  const found: Finding[] = []
  const folders: GitTreeEntry[] = []
  const folderPath = fromBinaryName(prefix)
  let skipped = 0
  const refuse = (rule: string, path: string, message: string) =>
    found.push({ rule, severity: 'error', path, line: 1, message })
  for (const entry of changed) {
    const { mode, name, oid } = entry
    const path = folderPath + fromBinaryName(name)
    const problem = name.includes('/') ? 'has a name with a slash' : pathProblem(path)
    if (problem !== undefined) refuse('path', path, `The path ${problem}.`)
    const isFolder = mode === folderMode
    const size = sizes.get(oid) ?? 0
    if (!isFolder) found.push(...checkFile({ path, size: size > maxBlobBytes ? size : 0, mode }, ''))
    else if (problem !== undefined) skipped++
    else if (oid === emptyTree) refuse('path', path, 'The folder is empty, and git keeps only files.')
    else folders.push(entry)
  }
  for (const [name, other] of collisions(tree, added)) {
    const otherPath = oneLine(folderPath + other, 200)
    refuse('path-collision', folderPath + name, `The path and ${otherPath} are one where case is ignored.`)
  }
  return { found, folders, skipped }
}

/** Returns names added to a folder that some file system does not distinguish from other names in it. */
function collisions(tree: PushedFolder['tree'], added: ReadonlySet<string>): [name: string, other: string][] {
  if (added.size === 0) return []
  const names = tree.entries.map(({ name }) => name)
  const known = new Map<string, string>()
  const found: [string, string][] = []
  // Reports the added name rather than the existing one.
  for (const binary of [...names.filter((name) => !added.has(name)), ...names.filter((name) => added.has(name))]) {
    const name = fromBinaryName(binary)
    const key = pathKey(name)
    const other = known.get(key)
    if (other === undefined) known.set(key, name)
    else if (added.has(binary)) found.push([name, other])
  }
  return found
}

import { chmod, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const hookNames = ['pre-commit', 'commit-msg'] as const

const ownFolder = fileURLToPath(new URL('../../../hooks/', import.meta.url))
/** The second line of each of our hooks begins so. */
const mark = "\n# Ganglion's hook: "
const backupSuffix = '.before-ganglion'

/** What keeps the hooks from being installed. */
class HookError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'HookError'
  }
}

/** How a hook runs Ganglion: absolute paths of a Node and of the program for it. */
export type Installation = { node: string; program: string }

/**
 * Puts the hooks into a folder, all or none; those of an earlier installation are replaced. A foreign hook is moved aside with
 * `force`. Answers what was moved.
 * @throws {HookError} for a foreign hook, or where the place to move it to is taken
 */
export async function installHooks(
  folder: string,
  { installation, force }: { installation: Installation; force: boolean },
): Promise<string[]> {
  const foreign: string[] = []
  for (const name of hookNames) if ((await stateOf(join(folder, name))) === 'foreign') foreign.push(join(folder, name))
  if (foreign.length > 0 && !force) {
    throw new HookError(
      `There is a hook already: ${foreign.join(', ')}. Call "ganglion check --staged" from it, or install with --force, which keeps it as *${backupSuffix}.`,
    )
  }
  for (const path of foreign) {
    if ((await stateOf(path + backupSuffix)) !== 'none') throw new HookError(`${path}${backupSuffix} is in the way.`)
  }
  await mkdir(folder, { recursive: true })
  for (const path of foreign) await rename(path, path + backupSuffix)
  for (const name of hookNames) await writeHook(join(folder, name), await hookText(name, installation))
  return foreign.map((path) => path + backupSuffix)
}

/** Takes the hooks out of a folder, and puts back what was moved aside. Answers what was removed. */
export async function uninstallHooks(folder: string): Promise<string[]> {
  const removed: string[] = []
  for (const name of hookNames) {
    const path = join(folder, name)
    if ((await stateOf(path)) !== 'ours') continue
    await rm(path)
    if ((await stateOf(path + backupSuffix)) !== 'none') await rename(path + backupSuffix, path)
    removed.push(path)
  }
  return removed
}

async function stateOf(path: string): Promise<'none' | 'ours' | 'foreign'> {
  const stats = await lstat(path).catch(() => undefined)
  if (stats === undefined) return 'none'
  return stats.isFile() && (await readFile(path, 'utf8')).includes(mark) ? 'ours' : 'foreign'
}

async function hookText(name: string, { node, program }: Installation): Promise<string> {
  const text = await readFile(join(ownFolder, name), 'utf8')
  return text
    .replace(/^node=''$/m, () => `node=${shellWord(node)}`)
    .replace(/^program=''$/m, () => `program=${shellWord(program)}`)
}

/** A path as one word of sh, also on Windows, where git brings an sh along. */
function shellWord(path: string): string {
  const portable = process.platform === 'win32' ? path.replaceAll('\\', '/') : path
  return `'${portable.replaceAll("'", `'\\''`)}'`
}

/** Renamed into place, since git may be running the one that is there. */
async function writeHook(path: string, text: string): Promise<void> {
  const fresh = `${path}.new-${process.pid}`
  await writeFile(fresh, text, { mode: 0o755 })
  await chmod(fresh, 0o755)
  await rename(fresh, path)
}

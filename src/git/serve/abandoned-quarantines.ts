import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../system/error-code.ts'

/** Milliseconds without a change after which a push is taken to have been killed. */
const abandonedAfter = 3_600_000

/** Removes what pushes that were killed left behind: folders of objects that nobody judged. */
export async function clearAbandonedQuarantines(gitDir: string, now = Date.now()): Promise<void> {
  const objects = join(gitDir, 'objects')
  for (const name of await readdir(objects)) {
    if (!name.startsWith('tmp_objdir-')) continue
    const quarantine = join(objects, name)
    const changed = await lastChange(quarantine)
    if (changed !== undefined && now - changed > abandonedAfter) await rm(quarantine, { recursive: true, force: true })
  }
}

/** Returns the time of the last change of a folder and its contents; undefined if it is gone. */
async function lastChange(folder: string): Promise<number | undefined> {
  try {
    const names = ['', ...(await readdir(folder, { recursive: true }))]
    const times = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mtimeMs))
    return Math.max(...times)
  } catch (error) {
    // A push that ends takes its folder away.
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

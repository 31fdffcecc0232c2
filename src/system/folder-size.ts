import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Returns the bytes of the files in a folder, ignoring files that disappear meanwhile. */
export async function folderSize(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  let total = 0
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined)
    total += found?.size ?? 0
  }
  return total
}

import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/**
 * Returns the folder of the knowledge base around a folder: the nearest one upwards that contains a `kb.yaml` or is the top of a checkout,
 * or else the folder itself.
 */
export async function findKbFolder(dir: string): Promise<string> {
  for (let folder = resolve(dir); ; folder = dirname(folder)) {
    const found = await Promise.all(['kb.yaml', '.git'].map((name) => exists(join(folder, name))))
    if (found.includes(true)) return folder === resolve(dir) ? dir : folder
    if (folder === dirname(folder)) return dir
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

import { open, unlink } from 'node:fs/promises'

/** Writes a new file and waits until its bytes are on the disk. A file that could not be written whole is removed. */
export async function writeSynced(path: string, data: Buffer | string, mode = 0o644): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(data)
    await file.sync()
  } catch (error) {
    await file.close()
    await unlink(path).catch(() => {})
    throw error
  }
  await file.close()
}

/** Waits until a folder's entries (a new name, a rename) are on the disk. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return // folders cannot be opened there; NTFS journals its renames
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

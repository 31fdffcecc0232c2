import { mkdir, open, readdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

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

/** Makes a folder, and those above it that are missing, so that they survive a power cut. */
export async function makeDurableDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made))
}

/** Waits until everything in a folder, and the folder itself, is on the disk. */
export async function syncTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await syncTree(child)
    else if (entry.isFile()) await syncFile(child)
  }
  await syncDirectory(path)
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

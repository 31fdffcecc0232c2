import { mkdir, open, readdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Writes a new file and waits until its bytes are on disk. Removes an incomplete file after an error. */
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

/** Waits until the entries of a folder (a new name, a rename) are on disk. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return // Folders cannot be opened on Windows; NTFS journals renames.
  await using folder = await open(path, 'r')
  await folder.sync()
}

/** Creates a folder and missing parent folders, so that they survive a power cut. */
export async function makeDurableDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made))
}

/** Waits until a folder and everything in it is on disk. */
export async function syncTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await syncTree(child)
    else if (entry.isFile()) await syncFile(child)
  }
  await syncDirectory(path)
}

async function syncFile(path: string): Promise<void> {
  await using file = await open(path, 'r')
  await file.sync()
}

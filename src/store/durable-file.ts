import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Waits until a folder's entries (a new name, a rename) are on the disk. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return // folders cannot be opened there
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

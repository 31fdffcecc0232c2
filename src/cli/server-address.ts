import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfThere } from '../system/read-if-there.ts'

const fileIn = (dataDir: string) => join(dataDir, 'server-address')

/** Stores the address at which a data directory is served, for commands that run next to the server. */
export async function rememberAddress(dataDir: string, url: string): Promise<void> {
  await writeFile(fileIn(dataDir), `${url}\n`, { mode: 0o600 })
}

export function serverAddress(dataDir: string): string | undefined {
  const url = readIfThere(fileIn(dataDir))?.trim()
  return url !== undefined && URL.canParse(url) ? url : undefined
}

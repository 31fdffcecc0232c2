import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { hasCode } from '../../system/error-code.ts'
import { BackupError, type Manifest, manifestName } from './backup-manifest.ts'

/** Returns the SHA-256 of a backup's files, by path in its folder. The file of a Source has its sum as its name, and is not read. */
export async function sumsOf(dir: string): Promise<Record<string, string>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const sums: Record<string, string> = {}
  for (const path of paths.toSorted()) {
    const name = relative(dir, path).replaceAll(sep, '/')
    if (name !== manifestName) sums[name] = isOfSource(name) ? basename(name) : await sumOf(path)
  }
  return sums
}

/**
 * Returns the problems of a backup's files, a sentence each. An earlier backup without sums cannot be checked.
 * @param options.sources true to check the files of Sources, too, which a restore checks one by one
 */
export async function findDamage(
  dir: string,
  { files = {} }: Pick<Manifest, 'files'>,
  { sources }: { sources: boolean },
): Promise<string[]> {
  const damage: string[] = []
  for (const [name, sum] of Object.entries(files)) {
    if (!sources && isOfSource(name)) continue
    const found = await sumOf(join(dir, name)).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error
    })
    if (found !== sum) damage.push(`${name} is ${found === undefined ? 'missing' : 'not what was written'}`)
  }
  return damage
}

/** @throws {BackupError} naming the damaged files */
export async function requireUndamaged(dir: string, manifest: Manifest): Promise<void> {
  const damage = await findDamage(dir, manifest, { sources: false })
  if (damage.length > 0) throw new BackupError(`${dir} is damaged: ${damage.join('; ')}. Restore another backup.`)
}

function isOfSource(name: string): boolean {
  return name.startsWith('blobs/')
}

async function sumOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

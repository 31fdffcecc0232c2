import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { z } from 'zod'

/** What CI checks a pull request with: this Ganglion as `npm pack` gives it. Its bytes change with its version only. */
export type CheckerPackage = {
  tgz: Buffer
  /** In hexadecimal digits. */
  sha256: string
}

/** Where a server gives it out. */
export const checkerPath = '/ci/ganglion-check.tgz'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** `dist` of a package, or `src` of a checkout, which stands in its place: where it is unpacked Node runs its TypeScript. */
const code = fileURLToPath(new URL('../', import.meta.url))
const Manifest = z.looseObject({ devDependencies: z.unknown(), scripts: z.unknown() })

let made: Promise<CheckerPackage> | undefined

/** Makes the package when it is first asked for. */
export function checkerPackage(): Promise<CheckerPackage> {
  made ??= make().catch((error) => {
    made = undefined
    throw error
  })
  return made
}

async function make(): Promise<CheckerPackage> {
  const {
    devDependencies: _,
    scripts: __,
    ...manifest
  } = Manifest.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  const files = new Map([
    ['package.json', Buffer.from(JSON.stringify(manifest, null, 2))],
    ['LICENSE', await readFile(join(root, 'LICENSE'))],
  ])
  const folders = {
    dist: code,
    ...Object.fromEntries(['bin', 'hooks', 'kb-template'].map((name) => [name, join(root, name)])),
  }
  for (const [name, folder] of Object.entries(folders)) {
    for (const path of await filesIn(folder)) files.set(`${name}/${path}`, await readFile(join(folder, path)))
  }
  const { packTar } = await import('modern-tar')
  const entries = [...files].map(([name, body]) => {
    const mode = name.startsWith('bin/') || name.startsWith('hooks/') ? 0o755 : 0o644
    return { header: { name: `package/${name}`, size: body.length, mtime: new Date(0), mode }, body }
  })
  const tgz = await promisify(gzip)(await packTar(entries))
  return { tgz, sha256: createHash('sha256').update(tgz).digest('hex') }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/')).sort()
}

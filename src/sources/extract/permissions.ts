import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExtractInput } from '../extracted.ts'
import type { Family } from './registry.ts'

/** `src` or `dist`. */
const codeFolder = fileURLToPath(new URL('../..', import.meta.url))
const packageFolder = dirname(codeFolder)

/** The description of the package, and the packages that are installed in it or beside it: where they are called for, and where they lie. */
const packageFiles = [
  join(packageFolder, 'package.json'),
  ...foldersAbove(packageFolder).map((folder) => join(folder, 'node_modules')),
]
  .filter((path) => existsSync(path))
  .flatMap((path) => [...new Set([path, realpathSync(path)])])

/** Flags of Node for a process that may read one document and the program's own files, and nothing else but what its family needs. */
export function permissionFlags(
  { file, transcriber }: Pick<ExtractInput, 'file' | 'transcriber'>,
  { addons, network }: Pick<Family, 'addons' | 'network'>,
  scratch: string | undefined,
): string[] {
  return [
    '--permission',
    ...[file, codeFolder, ...packageFiles].map((path) => `--allow-fs-read=${path}`),
    ...(addons ? ['--allow-addons'] : []),
    ...(scratch === undefined ? [] : [`--allow-fs-read=${scratch}`, `--allow-fs-write=${scratch}`]),
    ...(network && transcriber ? ['--allow-net'] : []),
  ]
}

function foldersAbove(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)]
}

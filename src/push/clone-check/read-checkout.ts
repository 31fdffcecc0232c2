import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { findGitDir, listWorkTree, type WorkTreeFile } from '../../git/checkout/work-tree.ts'
import { hashObject } from '../../git/objects/object.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { hasCode } from '../../system/error-code.ts'
import { checkOtherFile, isReadByCheck, parsePageBytes } from './parse-pushed-page.ts'

/** Files of a checkout. `gitDir`: set for a git checkout; `settings`: the text of `kb.yaml`, if there is one. */
export type Checkout = { gitDir: string | undefined; files: CheckedFile[]; settings: string | undefined }

/** Maximum bytes of a page that is parsed. Larger ones are rejected anyway. */
export const maxParsedBytes = 1024 * 1024
const filesAtOnce = 256

/** Reads a checkout of a knowledge base, or any folder of such files, for the check. */
export async function readCheckout(dir: string, parser: ParserPool): Promise<Checkout> {
  const gitDir = await findGitDir(dir)
  const listed = gitDir === undefined ? await listFolder(dir, '') : await listWorkTree(gitDir, dir)
  const reading: Promise<CheckedFile>[] = []
  for (let start = 0; start < listed.length; start += filesAtOnce) {
    const chunk = listed.slice(start, start + filesAtOnce).map((file) => readFoundFile(dir, file))
    const found = (await Promise.all(chunk)).filter((file) => file !== undefined)
    // Files are parsed while the next ones are read.
    reading.push(...found.map(({ bytes, ...file }) => parseFile(file, bytes, parser)))
  }
  const files = await Promise.all(reading)
  const hasSettings = files.some(({ path, mode }) => path === 'kb.yaml' && mode?.startsWith('100'))
  return { gitDir, files, settings: hasSettings ? await readFile(join(dir, 'kb.yaml'), 'utf8') : undefined }
}

/** Lists every file below a folder as git would track it, without git's own. */
async function listFolder(dir: string, prefix: string): Promise<WorkTreeFile[]> {
  const files: WorkTreeFile[] = []
  for (const entry of await readdir(join(dir, prefix), { withFileTypes: true })) {
    const path = prefix + entry.name
    if (entry.isFile() || entry.isSymbolicLink()) files.push({ path, mode: undefined })
    else if (entry.isDirectory() && entry.name !== '.git') files.push(...(await listFolder(dir, `${path}/`)))
  }
  return files
}

type FoundFile = CheckedFile & { bytes?: Buffer }

/** Reads a file, with its bytes if its content is checked. Returns undefined for a tracked file that was deleted. */
async function readFoundFile(dir: string, { path, mode: tracked }: WorkTreeFile): Promise<FoundFile | undefined> {
  // A name that is not UTF-8 cannot be opened by its decoded form, and the check rejects it by its path.
  if (path.includes('\ufffd')) return { path, size: 0, ...(tracked === undefined ? {} : { mode: tracked }) }
  const absolute = join(dir, path)
  const stats = await lstat(absolute).catch(ignoreMissing)
  if (stats === undefined) return undefined
  const { size } = stats
  if (!stats.isFile()) return { path, size: 0, mode: stats.isSymbolicLink() ? '120000' : '160000' }
  const mode = tracked ?? (stats.mode & 0o100 ? '100755' : '100644')
  const isRead = isNeuronPath(path) ? size <= maxParsedBytes : isReadByCheck({ path, size })
  return isRead ? { path, size, mode, bytes: await readFile(absolute) } : { path, size, mode }
}

function ignoreMissing(error: unknown): undefined {
  // A folder in place of the file's folder also means that the file is gone.
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return
  throw error
}

async function parseFile(file: CheckedFile, bytes: Buffer | undefined, parser: ParserPool): Promise<CheckedFile> {
  if (bytes === undefined) return file
  if (!isNeuronPath(file.path)) return { ...file, findings: checkOtherFile(file.path, bytes.toString('utf8')) }
  return { ...file, oid: hashObject('blob', bytes), ...(await parsePageBytes(bytes, parser)) }
}

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

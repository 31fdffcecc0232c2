import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findGitDir, listWorkTree, type WorkTreeFile } from '../../git/checkout/work-tree.ts'
import { hashObject } from '../../git/objects/object.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { hasCode } from '../../system/error-code.ts'
import { checkOtherFile, isReadByCheck } from './other-file.ts'
import { parsePageBytes } from './parse-pushed-page.ts'

/** `gitDir` where the folder is a git checkout; `settings` is the text of `kb.yaml`, where there is one. */
export type Checkout = { gitDir: string | undefined; files: CheckedFile[]; settings: string | undefined }

/** Larger pages are refused whatever they hold. */
export const maxParsedBytes = 1024 * 1024
const filesAtOnce = 256

/** Reads a checkout of a knowledge base, or any folder of such files, as the check sees it. */
export async function readCheckout(dir: string, parser: ParserPool): Promise<Checkout> {
  const gitDir = await findGitDir(dir)
  const listed = gitDir === undefined ? await listFolder(dir, '') : await listWorkTree(gitDir, dir)
  const reading: Promise<CheckedFile>[] = []
  for (let start = 0; start < listed.length; start += filesAtOnce) {
    const chunk = listed.slice(start, start + filesAtOnce).map((file) => readFoundFile(dir, file))
    const found = (await Promise.all(chunk)).filter((file) => file !== undefined)
    // Parsed while the next files are read.
    reading.push(...found.map(({ bytes, ...file }) => parseFile(file, bytes, parser)))
  }
  const files = await Promise.all(reading)
  const hasSettings = files.some(({ path, mode }) => path === 'kb.yaml' && mode?.startsWith('100'))
  return { gitDir, files, settings: hasSettings ? await readFile(join(dir, 'kb.yaml'), 'utf8') : undefined }
}

/** Every file below a folder as git would track it, without git's own. */
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

/** With its bytes where what it holds matters; nothing for a file that is tracked and was deleted. */
async function readFoundFile(dir: string, { path, mode: tracked }: WorkTreeFile): Promise<FoundFile | undefined> {
  // Its name was no UTF-8, so it cannot be found under what is left of it, and the check refuses it by its path.
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
  // A folder in the place of a file's folder is no file either.
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return
  throw error
}

async function parseFile(file: CheckedFile, bytes: Buffer | undefined, parser: ParserPool): Promise<CheckedFile> {
  if (bytes === undefined) return file
  if (!isNeuronPath(file.path)) return { ...file, findings: checkOtherFile(file.path, bytes.toString('utf8')) }
  return { ...file, oid: hashObject('blob', bytes), ...(await parsePageBytes(bytes, parser)) }
}

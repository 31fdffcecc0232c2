import { isUtf8 } from 'node:buffer'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashObject } from '../git/object.ts'
import { findGitDir, listWorkTree, type WorkTreeFile } from '../git/work-tree.ts'
import type { CheckedFile, CheckedNeuron } from '../knowledge/checked-file.ts'
import { parseNeuronFile } from '../markdown/neuron-file.ts'
import type { ParsedLinks, ParserPool } from '../markdown/parser-pool.ts'
import { isNeuronPath } from './knowledge-base.ts'

/** `gitDir` where the folder is a git checkout; `settings` is the text of `kb.yaml`, where there is one. */
export type Checkout = { gitDir: string | undefined; files: CheckedFile[]; settings: string | undefined }

/** Larger pages are refused whatever they hold. */
const maxParsedBytes = 1024 * 1024
const filesAtOnce = 256

/** Reads a checkout of a knowledge base, or any folder of such files, as the check sees it. */
export async function readCheckout(dir: string, parser: ParserPool): Promise<Checkout> {
  const gitDir = await findGitDir(dir)
  const listed = gitDir === undefined ? await listFolder(dir, '') : await listWorkTree(gitDir, dir)
  const files: CheckedFile[] = []
  for (let start = 0; start < listed.length; start += filesAtOnce) {
    const chunk = listed.slice(start, start + filesAtOnce).map((file) => readCheckedFile(dir, file, parser))
    files.push(...(await Promise.all(chunk)).filter((file) => file !== undefined))
  }
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

/** Nothing for a file that is tracked and was deleted. */
async function readCheckedFile(dir: string, file: WorkTreeFile, parser: ParserPool): Promise<CheckedFile | undefined> {
  const { path } = file
  // Its name was no UTF-8, so it cannot be found under what is left of it, and the check refuses it by its path.
  if (path.includes('\ufffd')) return { path, size: 0, ...(file.mode === undefined ? {} : { mode: file.mode }) }
  const absolute = join(dir, path)
  const stats = await lstat(absolute).catch(ignoreMissing)
  if (stats === undefined) return undefined
  const { size } = stats
  if (!stats.isFile()) return { path, size: 0, mode: stats.isSymbolicLink() ? '120000' : '160000' }
  const mode = file.mode ?? (stats.mode & 0o100 ? '100755' : '100644')
  if (!isNeuronPath(path) || size > maxParsedBytes) return { path, size, mode }
  const bytes = await readFile(absolute)
  return { path, size, mode, oid: hashObject('blob', bytes), ...(await readNeuron(bytes, parser)) }
}

function ignoreMissing(error: unknown): undefined {
  // A folder in the place of a file's folder is no file either.
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return
  throw error
}

async function readNeuron(bytes: Buffer, parser: ParserPool): Promise<Pick<CheckedFile, 'neuron' | 'links'>> {
  const text = bytes.toString('utf8')
  const { fields, content, contentLine, findings } = parseNeuronFile(text)
  const { links, flag } = await parser.links(content)
  const found = [...findings, ...badEncoding(bytes, text), ...unparsed(flag, contentLine)]
  return { links, neuron: { fields, content, contentLine, findings: found } }
}

function badEncoding(bytes: Buffer, text: string): CheckedNeuron['findings'] {
  if (isUtf8(bytes) && !text.includes('\0')) return []
  const line = text.slice(0, text.search(/[\0\ufffd]/)).split('\n').length
  return [{ rule: 'encoding', severity: 'error', line, message: 'The file is not UTF-8 text.' }]
}

function unparsed(flag: ParsedLinks['flag'], line: number): CheckedNeuron['findings'] {
  if (flag === undefined) return []
  const problem = flag === 'too-slow' ? 'takes too long to parse' : 'cannot be parsed'
  return [{ rule: 'unparsed', severity: 'warning', line, message: `The Markdown ${problem}: its links are not seen.` }]
}

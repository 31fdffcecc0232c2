import { existsSync, realpathSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseJson } from '../../contract/json.ts'
import { type Extracted, type ExtractInput, ExtractionError, type OnProgress } from '../extracted.ts'
import { type Ending, runConfined } from './confined/confined-process.ts'
import { extractReply } from './confined/reply.ts'
import { defaultLimits, type ExtractLimits } from './extract-limits.ts'
import { type Family, families, successors } from './registry.ts'

export type ExtractOptions = {
  signal?: AbortSignal | undefined
  limits?: Partial<ExtractLimits> | undefined
  /** Folder in which a folder for temporary files is made; the system's own by default. */
  scratchIn?: string | undefined
  /** Called with the number of pages (or other parts) that are done, and of all. Some formats report none. */
  onProgress?: OnProgress | undefined
  /** Runs the process that extracts. Tests replace it. */
  run?: typeof runConfined
}

/** It has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const childFile = fileURLToPath(new URL(`./confined/child${import.meta.url.slice(-3)}`, import.meta.url))
/** Folder of the code, `src` or `dist`. */
const codeFolder = fileURLToPath(new URL('../..', import.meta.url))
const packageFolder = dirname(codeFolder)

/** The package's description, and the packages installed in it or next to it: both as linked and as real paths. */
const packageFiles = [
  join(packageFolder, 'package.json'),
  ...foldersAbove(packageFolder).map((folder) => join(folder, 'node_modules')),
]
  .filter((path) => existsSync(path))
  .flatMap((path) => [...new Set([path, realpathSync(path)])])

/**
 * Extracts a document in a process of its own, which may read only that file and the program's files. `limits` not given are those of
 * `extract-limits.ts`.
 * @throws {ExtractionError} and the signal's reason
 */
export async function extractDocument(input: ExtractInput, options: ExtractOptions = {}): Promise<Extracted> {
  const family = familyOf(input.fileType)
  const limits = { ...defaultLimits, ...family.limits, ...options.limits }
  // This process removes the folder, since a killed process cannot.
  const inFolder = join(options.scratchIn ?? tmpdir(), 'ganglion-extract-')
  await using temporary = family.scratch ? await mkdtempDisposable(inFolder) : undefined
  const scratch = temporary?.path
  const confinement = {
    args: [...permissionFlags(input, family, scratch), ...heapFlags(limits), '--no-warnings', childFile],
    input: `${JSON.stringify(input)}\n`,
    scratch,
    limits,
    signal: options.signal,
    onProgress: options.onProgress,
  }
  const ending = await (options.run ?? runConfined)(confinement).catch((cause) => {
    options.signal?.throwIfAborted()
    throw new ExtractionError('crashed', 'The program that reads documents could not be started.', { cause })
  })
  if (family.second !== undefined && isAborted(ending)) {
    return await extractDocument({ ...input, fileType: family.second }, options)
  }
  return readEnding(ending, limits)
}

function familyOf(fileType: string): Family {
  const family = families.get(fileType)
  if (family) return family
  const successor = successors.get(fileType)
  const advice = successor === undefined ? '' : `: save it as .${successor} and upload that`
  throw new ExtractionError('unsupported', `Documents of type .${fileType} cannot be read${advice}.`)
}

/** Whether native code crashed on the document. */
function isAborted(ending: Ending): boolean {
  return ending.kind === 'ended' && /^SIG(?:ABRT|SEGV|BUS|ILL|FPE|TRAP)$/.test(ending.exit) && !isOutOfHeap(ending)
}

function isOutOfHeap({ errors }: { errors: string }): boolean {
  return /heap out of memory|heap limit|allocation failed/i.test(errors)
}

/** Returns the flags for a heap of three quarters of the memory: buffers and native code need the rest. */
function heapFlags({ memory }: ExtractLimits): string[] {
  return [`--max-old-space-size=${Math.floor((memory / 2 ** 20) * 0.75)}`]
}

/** Returns the flags of Node for a process that may read one document, the program's own files, and what its family needs. */
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

function readEnding(ending: Ending, limits: ExtractLimits): Extracted {
  if (ending.kind === 'exceeded') throw exceededError(ending.limit, limits)
  const { data: reply } = extractReply.safeParse(parseJson(ending.output.toString('utf8')))
  if (reply?.ok) return { ...reply.extracted, title: reply.extracted.title }
  const cause = ending.errors === '' ? undefined : new Error(ending.errors)
  if (reply !== undefined) throw new ExtractionError(reply.problem, reply.message, { cause })
  if (isOutOfHeap(ending)) throw exceededError('memory', limits)
  const message = `The program that reads this document stopped unexpectedly (${ending.exit}).`
  throw new ExtractionError('crashed', message, { cause })
}

function exceededError(limit: keyof ExtractLimits | 'starved', limits: ExtractLimits): ExtractionError {
  const advice = 'to read: it may be damaged, or split it.'
  const slow = (time: number) =>
    ['too-slow', `The document takes longer than ${Math.round(time / 1000)} seconds ${advice}`] as const
  const [problem, message] = {
    memory: ['too-large', `The document takes more than ${size(limits.memory)} of memory ${advice}`] as const,
    output: ['too-large', `The document's text is longer than ${size(limits.output)}: split it.`] as const,
    starved: ['starved', 'The server was too busy to read the document in time: ingest it again.'] as const,
    cpuTime: slow(limits.cpuTime),
    wallTime: slow(limits.wallTime),
  }[limit]
  return new ExtractionError(problem, message)
}

function size(bytes: number): string {
  return bytes >= 2 ** 30 ? `${bytes / 2 ** 30} GB` : `${Math.round(bytes / 2 ** 20)} MB`
}

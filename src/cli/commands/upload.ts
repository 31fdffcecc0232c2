import { stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import {
  ConnectionError,
  DuplicateSourceError,
  FileTypeNotAllowedError,
  Ganglion,
  type GanglionError,
  type GanglionOptions,
} from '#client'
import { fileTypes, type SourceAnswer } from '../../contract/documents.ts'
import { sha256OfFile } from '../../system/received-file.ts'
import { UsageError } from '../cli-errors.ts'
import type { ApiServer } from '../client/api-server.ts'
import { serverProblem } from '../client/server-problem.ts'
import { askServer } from '../command.ts'
import { argument, flag, option, repeatable } from '../options.ts'
import { progressBar } from '../progress-bar.ts'

const UploadId = z.uuid('must be the id of an upload')
const Options = z.object({
  files: argument(z.array(z.string()).min(1), 'files to upload; large ones are sent in chunks', '...'),
  kb: option(z.string().min(1), '<slug>', 'the knowledge base'),
  path: option(z.string().optional(), '<folder>', 'folder in its tree of Sources (default: /)'),
  tag: repeatable(z.array(z.string()).default([]), '<tag>', 'for the Neurons'),
  force: flag('upload a file even if the knowledge base has the same bytes already'),
  replace: flag('replace the file of the same name in the folder with a new edition'),
  wait: flag('wait until the files are ingested'),
  resume: option(UploadId.optional(), '<upload>', 'resume the interrupted upload of one large file, by its id'),
})
type Options = z.output<typeof Options>

export type FileReport = {
  file: string
  /** Result of a file; `skipped` if the knowledge base does not accept its type. */
  result: 'uploaded' | 'duplicate' | 'skipped' | 'failed'
  documentId?: string
  /** Status of the Source: with `--wait`, at the end of its ingest. */
  status?: string
  neurons?: number
  pending?: number
  error?: string
}

export function addUploadCommand(program: Command): void {
  const command = program.command('upload').description('upload files to a running server, which makes Neurons of them')
  const example = 'ganglion upload handbook.pdf minutes/*.docx --kb handbook --wait'
  askServer(command, Options, { key: 'an API key', example }, async (options, server) => {
    if (options.resume !== undefined && options.files.length > 1) throw new UsageError('--resume goes with one file')
    refuseSameNames(options)
    const files = await uploadAll(server, options)
    const isNegative = files.some(({ error }) => error !== undefined)
    return { json: { files }, text: files.map(describeFile).join('\n'), isNegative }
  })
}

/** Rejects files with equal names in one folder, which are rarely intended. @throws {UsageError} */
function refuseSameNames({ files, path = '/' }: Options): void {
  const named = new Map<string, string>()
  for (const file of files) {
    const name = basename(file).normalize('NFC')
    const other = named.get(name)
    if (other !== undefined) {
      throw new UsageError(
        `${other} and ${file} would both be ${name} in ${path}: upload them apart, each with a --path of its own.`,
      )
    }
    named.set(name, file)
  }
}

async function uploadAll(server: ApiServer, options: Options): Promise<FileReport[]> {
  const {
    files,
    kb,
    path: folder = '/',
    tag: tags,
    force = false,
    replace = false,
    wait: isWaiting = false,
    resume,
  } = options
  const ending = new AbortController()
  const progress = progressBar(process.stderr, files.length === 1 ? 'bytes' : 'files')
  try {
    const outcomeOf = isWaiting ? await followOutcomes(server, kb, ending.signal) : undefined
    const reports: FileReport[] = []
    for (const file of files) {
      if (files.length > 1) progress.show(reports.length, files.length)
      const size = (await stat(file).catch(() => undefined))?.size ?? 0
      const onProgress = (bytes: number) => files.length === 1 && progress.show(bytes, size)
      reports.push(await uploadOne(server, file, { kb, folder, tags, force, replace, resume, onProgress }))
    }
    if (outcomeOf === undefined) return reports
    const unfinished = reports.filter(isUnfinished)
    const settled = reports.length - unfinished.length
    let done = 0
    const waiting = progressBar(process.stderr)
    const outcomes = unfinished.map(async ({ documentId = '' }) => {
      const outcome = await outcomeOf(documentId)
      waiting.show(settled + ++done, reports.length)
      return [documentId, outcome] as const
    })
    const ended = new Map(await Promise.all(outcomes))
    return reports.map((report) => withOutcome(report, ended.get(report.documentId ?? '')))
  } finally {
    progress.clear()
    ending.abort()
  }
}

export async function uploadOne(server: ApiServer, file: string, options: FileUpload): Promise<FileReport> {
  try {
    const found = await stat(file).catch(() => undefined)
    if (found?.isDirectory()) throw new Error('This is a folder: ganglion watch takes folders.')
    if (!found?.isFile()) throw new Error('There is no such file.')
    return reportOf(file, await uploadFile(server, file, options))
  } catch (error) {
    const isTypeRefused = error instanceof FileTypeNotAllowedError
    return { file, result: isTypeRefused ? 'skipped' : 'failed', error: sentence(error, server, file) }
  }
}

function reportOf(file: string, uploaded: Uploaded): FileReport {
  if (uploaded.result === 'duplicate') {
    const { documentId } = uploaded
    return { file, result: 'duplicate', ...(documentId !== undefined && { documentId }) }
  }
  const { id, status, errorMessage } = uploaded.source
  const error = errorMessage === null ? {} : { error: errorMessage }
  return { file, result: 'uploaded', documentId: id, status, ...error }
}

function isUnfinished({ result, status }: FileReport): boolean {
  return result === 'uploaded' && status !== 'failed' && status !== 'success'
}

function withOutcome(report: FileReport, outcome: IngestEnd | undefined): FileReport {
  if (outcome === undefined) return report
  const { error, ...rest } = outcome
  return { ...report, ...rest, ...(error === undefined ? {} : { error }) }
}

export function describeFile({ file, result, documentId, status, neurons, pending, error }: FileReport): string {
  const name = basename(file)
  if (result === 'failed') return `failed     ${name}: ${error}`
  if (result === 'skipped') return `skipped    ${name}: ${error}`
  if (result === 'duplicate') return `known      ${name}: its bytes are there as ${documentId}`
  if (error !== undefined) return `failed     ${name}, ${documentId}: ${error}`
  const made = neurons === undefined ? status : `${neurons} Neurons${pending ? `, ${pending} wait for a curator` : ''}`
  return `uploaded   ${name}, ${documentId}: ${made}`
}

function sentence(error: unknown, server: ApiServer, file: string): string {
  return serverProblem(error, server, {
    not_found: () => 'There is no such knowledge base, or upload, for this key.',
    insufficient_role: () => 'The key in GANGLION_KEY may not upload.',
    file_type_not_allowed: ({ body }) => typeRefused(body.allowedTypes, file),
  })
}

/** Explains why a type was rejected. @param allowed types from the server; types unknown to this version are left out */
function typeRefused(allowed: GanglionError['body']['allowedTypes'], file: string): string {
  const taken = fileTypes.filter((type) => allowed?.includes(type)).toSorted()
  return [
    'The knowledge base does not take files of this type.',
    ...(taken.length === 0 ? [] : [`It takes: ${taken.join(', ')}.`]),
    ...(isUploadable(file) ? ['sources.types in its kb.yaml may allow more.'] : []),
  ].join(' ')
}

export type IngestEnd = { status: 'success' | 'failed'; neurons: number; pending: number; error: string | undefined }

const statusOf = { 'ingest.completed': 'success', 'ingest.failed': 'failed' } as const

/**
 * Follows the ends of ingests in a knowledge base until the signal aborts. Resolves once that has begun.
 * @returns a function that waits for the outcome of a Source's ingest, which may have ended already
 * @throws {GanglionError} if the server rejects the request for events
 */
export async function followOutcomes(
  server: GanglionOptions,
  kb: string,
  signal: AbortSignal,
): Promise<(documentId: string) => Promise<IngestEnd>> {
  const outcomes = new Map<string, PromiseWithResolvers<IngestEnd>>()
  const outcomeOf = (documentId: string) => {
    const outcome = outcomes.get(documentId) ?? Promise.withResolvers<IngestEnd>()
    outcomes.set(documentId, outcome)
    return outcome
  }
  await new Promise<void>((onOpen, failed) => {
    const follow = async () => {
      for await (const event of new Ganglion(server).events({ kb, onOpen }, { signal })) {
        if (event.kind !== 'ingest.completed' && event.kind !== 'ingest.failed') continue
        const { documentId = '', neurons = 0, pending = 0, error } = event
        outcomeOf(documentId).resolve({ status: statusOf[event.kind], neurons, pending, error })
      }
    }
    follow().catch(failed) // Has no effect after the stream has opened: then the signal has aborted.
  })
  return (documentId) => outcomeOf(documentId).promise
}

type Uploaded =
  | { result: 'uploaded'; source: Pick<SourceAnswer, 'id' | 'status' | 'errorMessage'> }
  | { result: 'duplicate'; documentId: string | undefined }

type FileUpload = {
  /** Slug or UUID of the knowledge base. */
  kb: string
  /** Folder in the tree of Sources; `/` is its root. */
  folder: string
  tags: readonly string[]
  /** True to upload the file even if the knowledge base already has its bytes. */
  force: boolean
  /** True to make the file the next edition of the Source with its name in the folder. */
  replace: boolean
  /** Id of an interrupted upload in chunks. */
  resume?: string | undefined
  /** Callback with the number of bytes that the server has received. */
  onProgress?: (bytes: number) => void
}

/** Timeout of a response in milliseconds. A server reads a large file once more before it accepts it. */
const timeout = 15 * 60_000
/** Maximum bytes of a file that is sent in one request. A larger one is sent in chunks. */
const chunkedAbove = 2 ** 24

/** True if a server of this version accepts the file's type, provided that the knowledge base does. */
export function isUploadable(file: string): boolean {
  return z.enum(fileTypes).safeParse(extname(file).slice(1).toLowerCase()).success
}

/** Uploads a file, and resumes after a lost connection. @throws {GanglionError} @throws {Error} with a sentence for people */
export async function uploadFile(
  server: ApiServer,
  file: string,
  { kb, folder: path, tags, force, replace, resume, onProgress }: FileUpload,
): Promise<Uploaded> {
  const { size } = await stat(file)
  let uploadId = resume
  try {
    const source = await new Ganglion(server).kb(kb).sources.upload(file, {
      ...{ path, metadata: { tags }, force, replace, resume, chunkedAbove, timeout },
      // The hash lets the server reject bytes that it already has before they are sent.
      ...(size > chunkedAbove && resume === undefined && { contentHash: await sha256OfFile(file) }),
      onProgress: (progress) => {
        uploadId = progress.uploadId
        onProgress?.(progress.sent)
      },
    })
    return { result: 'uploaded', source }
  } catch (error) {
    if (error instanceof DuplicateSourceError)
      return { result: 'duplicate', documentId: z.uuid().safeParse(error.body.existingDocumentId).data }
    if (uploadId === undefined || !(error instanceof ConnectionError)) throw error
    throw new Error(`${serverProblem(error, server)} To go on where it broke off: --resume ${uploadId}`)
  }
}

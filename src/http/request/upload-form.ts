import type { Readable } from 'node:stream'
import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { maxUploadBytes } from '../../contract/documents.ts'
import { type ErrorCode, GanglionError, ValidationError } from '../../contract/errors.ts'
import type { FormPart } from '../../sources/receive/upload-source.ts'

const maxFields = 10
const maxFieldBytes = 64 * 1024

/** Maximum bytes of a whole form: the file, the fields, and the bytes around them. */
export const maxFormBytes = maxUploadBytes + (maxFields + 1) * (maxFieldBytes + 4096)

/** Options of `@fastify/multipart`. It truncates a file at `fileSize`, one byte above our limit, so that the reader can reject it. */
export const formOptions = {
  preservePath: true,
  throwFileSizeLimit: false,
  limits: {
    files: 1,
    fields: maxFields,
    parts: maxFields + 1,
    fieldSize: maxFieldBytes,
    fileSize: maxUploadBytes + 1,
    headerPairs: 20,
  },
} as const

/** Any part of a form with a file, as parsed. */
export type AnyPart = Extract<FormPart, { name: 'file' }> | { name: string; value: unknown }

/**
 * Yields the parts of a form that uploads a file as they arrive, without those that an upload does not use.
 * @throws errors of {@link readParts}
 */
export async function* readForm(request: FastifyRequest): AsyncGenerator<FormPart> {
  for await (const part of readParts(request)) {
    if ('bytes' in part) yield part
    else if (part.name === 'path' || part.name === 'metadata') yield { name: part.name, value: part.value }
  }
}

/**
 * Yields the parts of a form as they arrive.
 * @throws {GanglionError} `unsupported_media_type`, `malformed_request`, `no_file`, `payload_too_large`, `header_too_large`
 * @throws {ValidationError} for a field that is too long
 */
export async function* readParts(request: FastifyRequest): AsyncGenerator<AnyPart> {
  if (!request.isMultipart()) {
    throw new GanglionError('unsupported_media_type', 'Send the body as multipart/form-data.')
  }
  boundBody(request)
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') yield filePart(part)
      else if (part.valueTruncated) throw new ValidationError({ [part.fieldname]: ['must be at most 64 KB'] })
      else yield { name: part.fieldname, value: part.value }
    }
  } catch (error) {
    throw refusal(error)
  }
}

function filePart({ fieldname, filename, file }: MultipartFile): Extract<FormPart, { name: 'file' }> {
  if (fieldname !== 'file') throw new GanglionError('no_file', 'No file provided: its part is to be named "file"')
  return { name: 'file', filename: filename ?? '', bytes: fileBytes(file) }
}

async function* fileBytes(file: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of file) yield chunk
  } catch (error) {
    throw refusal(error)
  }
}

/** Rejects input that the parser would drop silently. The parser treats an error of the request as the end of the form. */
function boundBody({ raw, headers }: FastifyRequest): void {
  const boundary = boundaryOf(headers['content-type'] ?? '')
  const partHeaders = boundary === undefined ? undefined : new PartHeaders(boundary)
  let bytes = 0
  const refuse = (code: ErrorCode) => {
    raw.off('data', check)
    raw.emit('error', new GanglionError(code))
  }
  const check = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxFormBytes) refuse('payload_too_large')
    else if (partHeaders?.areTooLong(chunk)) refuse('header_too_large')
  }
  raw.on('data', check)
  raw.pause()
}

/** Maps an error of the parser, which fails only because of the client's input. */
function refusal(error: unknown): unknown {
  if (error instanceof GanglionError || error instanceof ValidationError) return error
  return new GanglionError('malformed_request', 'The form is broken, or has too many parts.')
}

/** Maximum bytes of the headers of one part. */
const maxHeaders = 16 * 1024
const blankLine = '\r\n\r\n'

/**
 * Watches the bytes of a form (RFC 2046, section 5.1) for a part whose headers are too long: the parser truncates such headers silently.
 */
export class PartHeaders {
  readonly #delimiter: string
  /** Last bytes that may begin a delimiter which continues in the next chunk. */
  #rest: Buffer = Buffer.from('\r\n') // the first delimiter has no line before it
  #isInHeaders = false
  #isOver = false

  constructor(boundary: string) {
    this.#delimiter = `\r\n--${boundary}`
  }

  /** Processes the next bytes of the form. @returns true if the headers of a part are longer than 16 KB */
  areTooLong(chunk: Uint8Array): boolean {
    if (this.#isOver) return false
    let bytes = Buffer.concat([this.#rest, chunk])
    for (;;) {
      // The last delimiter of a form ends in two hyphens.
      if (this.#isInHeaders && bytes.subarray(0, 2).equals(Buffer.from('--'))) {
        this.#isOver = true
        this.#rest = Buffer.alloc(0)
        return false
      }
      const at = bytes.indexOf(this.#isInHeaders ? blankLine : this.#delimiter, 0, 'latin1')
      if (this.#isInHeaders && (at < 0 ? bytes.length : at) > maxHeaders) return true
      if (at < 0) break
      // The end of a blank line may be the beginning of a delimiter.
      bytes = bytes.subarray(at + (this.#isInHeaders ? 2 : this.#delimiter.length))
      this.#isInHeaders = !this.#isInHeaders
    }
    this.#rest = this.#isInHeaders ? bytes : Buffer.from(bytes.subarray(-this.#delimiter.length))
    return false
  }
}

/** Returns the boundary in the content type of a form, or undefined. */
export function boundaryOf(contentType: string): string | undefined {
  const match = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(contentType)
  return match?.[1] ?? match?.[2]
}

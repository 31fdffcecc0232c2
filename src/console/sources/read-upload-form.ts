import type { FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'
import { requireFormToken } from '../../http/access/session-cookie.ts'
import { type AnyPart, readParts } from '../../http/request/upload-form.ts'
import type { FormPart } from '../../sources/receive/upload-source.ts'

/** A form of ours whose file is still to be read. */
export type OpenForm = {
  /** What stands before the file: the browser sends the fields in the order of the page. */
  fields: ReadonlyMap<string, string>
  file: Extract<FormPart, { name: 'file' }>
}

/**
 * Reads a form up to its file, and sees that it is ours.
 * @throws {GanglionError} `stale_form`, `no_file`, and what `readParts` throws
 */
export async function openForm(request: FastifyRequest): Promise<OpenForm> {
  const fields = new Map<string, string>()
  const parts = readParts(request)
  for (let step = await parts.next(); step.done !== true; step = await parts.next()) {
    const part: AnyPart = step.value
    if ('value' in part) {
      fields.set(part.name, String(part.value))
      continue
    }
    request.body = Object.fromEntries(fields)
    requireFormToken(request)
    return { fields, file: { ...part, bytes: untilEnd(part.bytes, parts) } }
  }
  throw new GanglionError('no_file')
}

/** The bytes of the last part that counts; the form is read to its end, so that it can be answered. */
async function* untilEnd(bytes: AsyncIterable<Uint8Array>, parts: AsyncGenerator<AnyPart>): AsyncGenerator<Uint8Array> {
  yield* bytes
  for await (const part of parts) if ('bytes' in part) throw new GanglionError('malformed_request')
}

import type { FastifyRequest } from 'fastify'
import { sourcePage, sourcesPage } from '../../contract/console-paths.ts'
import { maxChunkedBytes, maxUploadBytes, type UploadStatus } from '../../contract/documents.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { requireFormToken } from '../../http/access/session-cookie.ts'
import { type AnyPart, readParts } from '../../http/request/upload-form.ts'
import type { FormPart } from '../../sources/receive/upload-source.ts'
import { sizeInWords } from '../islands/upload/upload-plan.ts'
import { button, checkbox, type FormErrors, field, form } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import type { PageKb, Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'

type UploadOptions = {
  kb: PageKb
  fileTypes: readonly string[]
  openUploads: readonly UploadStatus[]
  attempt?: UploadAttempt | undefined
}

/** The form that uploads one file; a browser module takes several, in chunks, and goes on with those that were cut off. */
export function uploadSection(visit: Visit, { kb, fileTypes, openUploads, attempt }: UploadOptions): Html {
  const { errors, duplicate } = attempt ?? {}
  const accept = fileTypes.map((type) => `.${type}`).join(',')
  return html`<section class="upload" id="upload" aria-labelledby="upload-title" data-kb="${kb.slug}" data-types="${fileTypes.join(' ')}" data-max="${maxChunkedBytes}">
    <h2 id="upload-title">Upload</h2>
    ${form(
      visit,
      { action: sourcesPage(kb.slug), errors, attributes: { enctype: 'multipart/form-data' } },
      html`${field({
        ...{ name: 'path', label: 'Folder', value: attempt?.path ?? '/', errors },
        hint: 'Where it stands in the list: / or a path such as /policies/2026.',
      })}
      ${checkbox({
        ...{
          name: 'replace',
          label: 'Replace the file of the same name in this folder',
          isChecked: attempt?.replace === true,
        },
        hint: 'It becomes a new edition: its pages keep their numbers, and edits to them are merged.',
      })}
      ${
        duplicate !== undefined &&
        html`<p>The same file is here already: <a href="${sourcePage(kb.slug, duplicate.id)}"><bdi>${duplicate.filename}</bdi></a>.</p>
        ${checkbox({ name: 'force', label: 'Upload it again all the same', isChecked: false })}`
      }
      ${field({
        ...{ name: 'file', label: 'File', type: 'file', errors },
        hint: html`<span class="without-scripts">Up to ${sizeInWords(maxUploadBytes)}.</span> Files that end in ${accept.replaceAll(',', ', ')}.`,
        attributes: { required: true, accept },
      })}
      ${button('Upload')}`,
    )}
    <p class="hint with-scripts">Or drop files here: several at once, up to ${sizeInWords(maxChunkedBytes)} each.</p>
    <p class="unseen" role="status" data-upload-news></p>
    <button type="button" class="second with-scripts" data-clear-done>Clear done</button>
    <ul class="uploads" aria-label="Uploads">${openUploads.map((upload) => openUpload(visit, kb.slug, upload))}</ul>
  </section>`
}

function openUpload(
  visit: Visit,
  kbSlug: string,
  { uploadId, filename, fileSize, bytesReceived, expiresAt }: UploadStatus,
): Html {
  return html`<li data-upload="${uploadId}" data-filename="${filename}" data-size="${fileSize}" data-received="${bytesReceived}">
    <strong><bdi>${filename}</bdi></strong>
    <p data-progress-text>${sizeInWords(bytesReceived)} of ${sizeInWords(fileSize)} are here; it expires ${when(expiresAt)}.
      <span class="with-scripts">Choose the same file again to go on.</span></p>
    ${form(visit, { action: `${sourcesPage(kbSlug)}/uploads/${uploadId}/remove` }, button('Remove', { class: 'second' }))}
  </li>`
}

export type UploadAttempt = {
  path: string
  replace: boolean
  errors: FormErrors
  /** The Source that has the same bytes. */
  duplicate?: { id: string; filename: string } | undefined
}

/** Errors of a file that a person can do something about, beside the file's field. */
const ofFile: ReadonlySet<string> = new Set([
  'no_file',
  'file_type_not_allowed',
  'payload_too_large',
  'duplicate_source',
])

/** An upload that was refused, to be shown with its form. Throws errors that say nothing of the form. */
export function refusedUpload(error: unknown, fields: ReadonlyMap<string, string>): UploadAttempt & { status: number } {
  const typed = { path: fields.get('path') ?? '/', replace: fields.get('replace') === 'true' }
  if (error instanceof ValidationError) {
    const { fieldErrors, formErrors } = error
    return { ...typed, errors: { fieldErrors, formErrors }, status: 400 }
  }
  if (!(error instanceof GanglionError) || !ofFile.has(error.code)) throw error
  const { existingDocumentId: id, existingFilename: filename } = error.details
  const duplicate = typeof id === 'string' && typeof filename === 'string' ? { id, filename } : undefined
  return { ...typed, errors: { fieldErrors: { file: [error.message] } }, duplicate, status: error.status }
}

/** A form of ours whose file is still to be read. */
export type OpenForm = {
  /** Fields before the file: the browser sends them in the order of the page. */
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

import multipart from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { sourcePage, sourcesPage } from '../../contract/console-paths.ts'
import { maxChunkedBytes, maxUploadBytes, type UploadStatus } from '../../contract/documents.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { requireFormToken } from '../../http/access/session-cookie.ts'
import { type AnyPart, formOptions, maxFormBytes, readParts } from '../../http/request/upload-form.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { type FormPart, uploadSource } from '../../sources/receive/upload-source.ts'
import { sizeInWords } from '../islands/upload/upload-plan.ts'
import { button, controlsOf, type FormErrors, form, postButton } from '../layout/form.ts'
import { type Html, html, when } from '../layout/html-template.ts'
import type { PageKb, Visit } from '../layout/page.ts'
import { type ConsoleRequest, pagesOf } from '../layout/page-routes.ts'

type UploadOptions = {
  kb: PageKb
  fileTypes: readonly string[]
  openUploads: readonly UploadStatus[]
  attempt?: UploadAttempt | undefined
}

/** Renders a form that uploads one file. A browser module accepts several, sends them in chunks, and resumes interrupted ones. */
export function uploadSection(visit: Visit, { kb, fileTypes, openUploads, attempt }: UploadOptions): Html {
  const { path = '/', replace = false, errors, duplicate } = attempt ?? {}
  const accept = fileTypes.map((type) => `.${type}`).join(',')
  const { text, check } = controlsOf({ path, replace: String(replace) }, errors)
  const uploading = { action: sourcesPage(kb.slug), errors, attributes: { enctype: 'multipart/form-data' } }
  return html`<section class="upload" id="upload" aria-labelledby="upload-title" data-kb="${kb.slug}" data-types="${fileTypes.join(' ')}" data-max="${maxChunkedBytes}">
    <h2 id="upload-title">Upload</h2>
    ${form(visit, uploading, [
      text('path', 'Folder', { hint: 'Where it stands in the list: / or a path such as /policies/2026.' }),
      check('replace', 'Replace the file of the same name in this folder', {
        hint: 'It becomes a new edition: its pages keep their numbers, and edits to them are merged.',
      }),
      duplicate !== undefined && [
        html`<p>The same file is here already: <a href="${sourcePage(kb.slug, duplicate.id)}"><bdi>${duplicate.filename}</bdi></a>.</p>`,
        check('force', 'Upload it again all the same'),
      ],
      text('file', 'File', {
        hint: html`<span class="without-scripts">Up to ${sizeInWords(maxUploadBytes)}.</span> Files that end in ${accept.replaceAll(',', ', ')}.`,
        ...{ type: 'file', required: true, accept },
      }),
      button('Upload'),
    ])}
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
    ${postButton(visit, `${sourcesPage(kbSlug)}/uploads/${uploadId}/remove`, 'Remove')}
  </li>`
}

type Typed = { path: string; replace: boolean }
export type UploadAttempt = Typed & {
  errors: FormErrors
  duplicate?: { id: string; filename: string } | undefined
}

/** Errors of a file that a person can correct, shown at the file's field. */
const ofFile: ReadonlySet<string> = new Set([
  'no_file',
  'file_type_not_allowed',
  'payload_too_large',
  'duplicate_source',
])

/** Returns a rejected upload, to show with its form. Throws errors that do not concern the form. */
function refusedUpload(error: unknown, typed: Typed): UploadAttempt & { status: number } {
  if (error instanceof ValidationError) {
    const { fieldErrors, formErrors } = error
    return { ...typed, errors: { fieldErrors, formErrors }, status: 400 }
  }
  if (!(error instanceof GanglionError) || !ofFile.has(error.code)) throw error
  const { existingDocumentId: id, existingFilename: filename } = error.details
  const duplicate = typeof id === 'string' && typeof filename === 'string' ? { id, filename } : undefined
  return { ...typed, errors: { fieldErrors: { file: [error.message] } }, duplicate, status: error.status }
}

type FormFile = Extract<FormPart, { name: 'file' }>
type Upload = Typed & { kb: string; file: FormFile }

/** Adds a form that uploads a file as `what` says, and is shown again if it is refused. */
export async function addUploadForm<Params extends z.ZodType>(
  { app, ctx }: { app: ZodFastify; ctx: AppContext },
  [url, params]: readonly [url: string, params: Params],
  what: (sent: ConsoleRequest<z.output<Params>>, file: FormFile, typed: Typed) => Upload | Promise<Upload>,
  refused: (sent: ConsoleRequest<z.output<Params>>, attempt: UploadAttempt) => Promise<Html>,
): Promise<void> {
  await app.register(async (forms: ZodFastify) => {
    await forms.register(multipart, formOptions)
    const { post } = pagesOf(forms, { people: 'curator', upload: true, readsForm: true })
    post(url, { params, bodyLimit: maxFormBytes }, async (sent) => {
      const fields = new Map<string, string>()
      try {
        const { kb, file, path, replace } = await what(sent, await openForm(sent.request, fields), typedIn(fields))
        const asked = { replace, force: fields.get('force') === 'true' }
        const { id } = await uploadSource(ctx, sent.caller, kb, partsOf(file, path), asked)
        return { to: `${sourcePage(kb, id)}?done=uploaded` }
      } catch (error) {
        const { status, ...attempt } = refusedUpload(error, typedIn(fields))
        return { page: await refused(sent, attempt), status }
      }
    })
  })
}

function typedIn(fields: ReadonlyMap<string, string>): Typed {
  return { path: fields.get('path') ?? '/', replace: fields.get('replace') === 'true' }
}

/**
 * Reads a form up to its file, and sees that it is ours.
 * @param fields receives the fields before the file: the browser sends them in the order of the page
 * @throws {GanglionError} `stale_form`, `no_file`, and what `readParts` throws
 */
async function openForm(request: FastifyRequest, fields: Map<string, string>): Promise<FormFile> {
  const parts = readParts(request)
  for (let step = await parts.next(); step.done !== true; step = await parts.next()) {
    const part: AnyPart = step.value
    if ('value' in part) {
      fields.set(part.name, String(part.value))
      continue
    }
    request.body = Object.fromEntries(fields)
    requireFormToken(request)
    return { ...part, bytes: untilEnd(part.bytes, parts) }
  }
  throw new GanglionError('no_file')
}

/** Returns the bytes of the file, and reads the form to its end, so that the request can be answered. */
async function* untilEnd(bytes: AsyncIterable<Uint8Array>, parts: AsyncGenerator<AnyPart>): AsyncGenerator<Uint8Array> {
  yield* bytes
  for await (const part of parts) if ('bytes' in part) throw new GanglionError('malformed_request')
}

/** Yields the parts of an upload. @throws {ValidationError} if no file was chosen */
async function* partsOf(file: FormFile, path: string): AsyncGenerator<FormPart> {
  if (file.filename === '') throw new ValidationError({ file: ['Choose a file.'] })
  yield { name: 'path', value: path }
  yield file
}

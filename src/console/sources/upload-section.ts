import { sourcePage, sourcesPage } from '../../contract/console-paths.ts'
import { maxChunkedBytes, maxUploadBytes, type UploadStatus } from '../../contract/documents.ts'
import { sizeInWords } from '../islands/upload/upload-plan.ts'
import { button, checkbox, field, form } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import type { PageKb, Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'
import type { UploadAttempt } from './upload-attempt.ts'

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

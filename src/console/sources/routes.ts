import multipart from '@fastify/multipart'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { sourcePage, sourcesPage } from '../../contract/console-paths.ts'
import { fileTypes, type SourceAnswer } from '../../contract/documents.ts'
import { Cursor } from '../../contract/envelope.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { formOptions, maxFormBytes } from '../../http/request/upload-form.ts'
import { answerFile } from '../../http/response/file-answer.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { describeKb } from '../../pages/describe-kb.ts'
import { describeUploads } from '../../sources/describe-uploads.ts'
import { archiveSource } from '../../sources/ingest/archive-source.ts'
import { ingestDocument } from '../../sources/ingest/ingest-document.ts'
import { listSources } from '../../sources/list-sources.ts'
import { readSource, sourceContent } from '../../sources/read-source.ts'
import { readPlacedNeurons, readSourceOutcome } from '../../sources/read-source-outcome.ts'
import { readSourceText } from '../../sources/read-source-text.ts'
import { type FormPart, uploadSource } from '../../sources/receive/upload-source.ts'
import { abandonUpload, listOpenUploads } from '../../sources/receive/uploads/find-upload.ts'
import type { Html } from '../layout/html-template.ts'
import { filter, KbParams } from '../layout/page-query.ts'
import { type ConsoleRequest, pagesOf } from '../layout/page-routes.ts'
import { type SourceListQuery, sourceListPage } from './source-list-page.ts'
import { archivePage, sourceDetailPage } from './source-page.ts'
import { type OpenForm, openForm, refusedUpload, type UploadAttempt } from './source-upload.ts'

const SourcePath = KbParams.extend({ id: z.uuid() })
const UploadPath = KbParams.extend({ uploadId: z.uuid() })
const ListQuery = z.object({
  text: filter(z.string().max(200)),
  status: filter(z.enum(['waiting', 'processing', 'success', 'failed'])),
  folder: filter(z.string().max(5000)),
  type: filter(z.enum(fileTypes)),
  cursor: filter(Cursor),
  done: filter(z.enum(['archived', 'removed'])),
})
const count = z
  .string()
  .regex(/^[1-9][0-9]{0,8}$/)
  .transform(Number)
const TextQuery = z.object({
  part: filter(count),
  page: filter(count),
  slide: filter(count),
  sheet: filter(z.string().max(1000)),
  time: filter(
    z
      .string()
      .regex(/^[0-9]{1,9}$/)
      .transform(Number),
  ),
  done: filter(z.enum(['uploaded', 'ingest'])),
})
const notices = {
  archived: 'The Source is archived.',
  removed: 'The upload is removed.',
  uploaded: 'Uploaded. Its pages come once it is read.',
  ingest: 'It is being read again.',
} as const
const statusesOf: Readonly<Record<string, readonly SourceAnswer['status'][]>> = {
  waiting: ['pending', 'ready'],
  processing: ['processing'],
  success: ['success'],
  failed: ['failed'],
}
const sourcesPerPage = 50

type Sent = ConsoleRequest<z.output<typeof KbParams>>
type SentOfOne = ConsoleRequest<z.output<typeof SourcePath>>

export async function sourceRoutes(app: ZodFastify, ctx: AppContext): Promise<void> {
  const pages = pagesOf(app)
  const curated = pagesOf(app, { people: 'curator' })
  const ofOne = { params: SourcePath } as const

  pages.get('/kb/:kb/sources', { params: KbParams, query: ListQuery, notices }, (sent) => {
    const { done: _, ...query } = sent.query
    return list(sent, query)
  })

  curated.post('/kb/:kb/sources/uploads/:uploadId/remove', { params: UploadPath }, async ({ caller, params }) => {
    await abandonUpload(ctx, caller, params.uploadId)
    return { to: `${sourcesPage(params.kb)}?done=removed` }
  })

  pages.get('/kb/:kb/sources/:id', { ...ofOne, query: TextQuery, notices }, (sent) => {
    const { done: _, ...place } = sent.query
    return detail(sent, place)
  })

  curated.get('/kb/:kb/sources/:id/file', ofOne, async (sent) => {
    const { source } = await find(sent)
    return answerFile(sent.request, sent.reply, await sourceContent(ctx, sent.caller, source.id))
  })

  curated.post('/kb/:kb/sources/:id/ingest', ofOne, async (sent) => {
    const { kb, source } = await find(sent)
    await ingestDocument(ctx, sent.caller, source.id)
    return { to: `${sourcePage(kb.slug, source.id)}?done=ingest` }
  })

  curated.get('/kb/:kb/sources/:id/archive', ofOne, async (sent) => archivePage(sent.visit, await find(sent)))

  curated.post('/kb/:kb/sources/:id/archive', ofOne, async (sent) => {
    const { kb, source } = await find(sent)
    await archiveSource(ctx, sent.caller, source.id)
    return { to: `${sourcesPage(kb.slug)}?done=archived` }
  })

  await app.register(async (forms: ZodFastify) => {
    await forms.register(multipart, formOptions)
    uploadRoutes(forms)
  })

  /** Adds the forms with a file, which is read as it arrives. */
  function uploadRoutes(forms: ZodFastify): void {
    const { post } = pagesOf(forms, { people: 'curator', upload: true, readsForm: true })
    const bodyLimit = maxFormBytes

    post('/kb/:kb/sources', { params: KbParams, bodyLimit }, async (sent) => {
      const { kb } = sent.params
      let fields: OpenForm['fields'] = new Map()
      try {
        const form = await openForm(sent.request)
        fields = form.fields
        const asked = { replace: fields.get('replace') === 'true', force: fields.get('force') === 'true' }
        const source = await uploadSource(ctx, sent.caller, kb, partsOf(form, fields.get('path') ?? '/'), asked)
        return { to: `${sourcePage(kb, source.id)}?done=uploaded` }
      } catch (error) {
        const { status, ...attempt } = refusedUpload(error, fields)
        return { page: await list(sent, {}, attempt), status }
      }
    })

    post('/kb/:kb/sources/:id/replace', { ...ofOne, bodyLimit }, async (sent) => {
      const { kb, source } = await find(sent)
      try {
        const form = await openForm(sent.request)
        const edition = { ...form, file: { ...form.file, filename: editionName(source, form.file.filename) } }
        const asked = { replace: true, force: false }
        const { id } = await uploadSource(ctx, sent.caller, kb.slug, partsOf(edition, source.path), asked)
        return { to: `${sourcePage(kb.slug, id)}?done=uploaded` }
      } catch (error) {
        const { status, errors } = refusedUpload(error, new Map())
        return { page: await detail(sent, {}, errors), status }
      }
    })
  }

  async function list(
    { visit, caller, params, notice }: Sent,
    query: SourceListQuery,
    attempt?: UploadAttempt,
  ): Promise<Html> {
    const isCurator = reaches(visit.session.role, 'curator')
    const { text, folder, type, cursor } = query
    const [kb, accepted, page, openUploads] = await Promise.all([
      describeKb(ctx, caller, params.kb),
      describeUploads(ctx, caller, params.kb),
      listSources(ctx, caller, params.kb, {
        ...{ limit: sourcesPerPage, text, folder, fileType: type, statuses: statusesOf[query.status ?? ''] },
        ...(cursor === undefined ? {} : { cursor }),
      }),
      isCurator ? listOpenUploads(ctx, caller, params.kb) : [],
    ])
    const { documents: sources, nextCursor } = page
    // Readers do not learn of Sources that they may not see.
    const total = isCurator ? await ctx.sources.countOf(kb.id) : undefined
    return sourceListPage(visit, { kb, query, total, sources, nextCursor, ...accepted, openUploads, attempt, notice })
  }

  async function detail(
    sent: SentOfOne,
    place: Omit<z.output<typeof TextQuery>, 'done'>,
    errors?: UploadAttempt['errors'],
  ): Promise<Html> {
    const { visit, caller, notice } = sent
    const { kb, source } = await find(sent)
    const [outcome, text, placed] = await Promise.all([
      readSourceOutcome(ctx, caller, source.id),
      readSourceText(ctx, caller, source.id, place),
      readPlacedNeurons(ctx, caller, source.id),
    ])
    return sourceDetailPage(visit, { kb, source, outcome, text, placed, errors, notice })
  }

  /** @throws {GanglionError} `not_found`, also for a Source of another knowledge base. */
  async function find({ caller, params }: SentOfOne) {
    const [kb, source] = await Promise.all([describeKb(ctx, caller, params.kb), readSource(ctx, caller, params.id)])
    if (source.knowledgeBaseId !== kb.id) throw new GanglionError('not_found')
    return { kb, source }
  }
}

/** An edition stands under the name of the document. @throws {ValidationError} for a file of another type. */
function editionName({ filename, fileType }: SourceAnswer, chosen: string): string {
  const isSameType = chosen.toLowerCase().endsWith(`.${fileType}`)
  if (!isSameType) throw new ValidationError({ file: [`Choose a .${fileType} file, as the edition before is one.`] })
  return filename
}

/** @throws {ValidationError} where no file was chosen. */
async function* partsOf({ file }: OpenForm, path: string): AsyncGenerator<FormPart> {
  if (file.filename === '') throw new ValidationError({ file: ['Choose a file.'] })
  yield { name: 'path', value: path }
  yield file
}

import multipart from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { sourcePage, sourcesPage } from '../../contract/console-paths.ts'
import { fileTypes, type SourceAnswer } from '../../contract/documents.ts'
import { Cursor } from '../../contract/envelope.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { callerOf } from '../../http/access/auth.ts'
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
import { abandonUpload } from '../../sources/receive/uploads/abandon-upload.ts'
import { listOpenUploads } from '../../sources/receive/uploads/find-upload.ts'
import { filter, KbParams } from '../layout/page-query.ts'
import { send, visitOf } from '../layout/page-routes.ts'
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
const curators = { people: 'curator' } as const

export async function sourceRoutes(app: ZodFastify, ctx: AppContext): Promise<void> {
  listRoutes(app, ctx)
  detailRoutes(app, ctx)
  await app.register(async (forms: ZodFastify) => {
    await forms.register(multipart, formOptions)
    uploadRoutes(forms, ctx)
  })
}

function listRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get('/kb/:kb/sources', { schema: { params: KbParams, querystring: ListQuery } }, (request, reply) => {
    const { done, ...query } = request.query
    return sendList(ctx, request, reply, { kb: request.params.kb, query, notice: done && notices[done] })
  })

  app.post(
    '/kb/:kb/sources/uploads/:uploadId/remove',
    { config: curators, schema: { params: UploadPath } },
    async (request, reply) => {
      await abandonUpload(ctx, callerOf(request), request.params.uploadId)
      return reply.redirect(`${sourcesPage(request.params.kb)}?done=removed`, 303)
    },
  )
}

function detailRoutes(app: ZodFastify, ctx: AppContext): void {
  const schema = { params: SourcePath } as const

  app.get('/kb/:kb/sources/:id', { schema: { ...schema, querystring: TextQuery } }, (request, reply) => {
    const { done, ...place } = request.query
    return sendSource(ctx, request, reply, { ...request.params, place, notice: done && notices[done] })
  })

  app.get('/kb/:kb/sources/:id/file', { config: curators, schema }, async (request, reply) => {
    const { source } = await findSource(ctx, request, request.params)
    return answerFile(request, reply, await sourceContent(ctx, callerOf(request), source.id))
  })

  app.post('/kb/:kb/sources/:id/ingest', { config: curators, schema }, async (request, reply) => {
    const { kb, source } = await findSource(ctx, request, request.params)
    await ingestDocument(ctx, callerOf(request), source.id)
    return reply.redirect(`${sourcePage(kb.slug, source.id)}?done=ingest`, 303)
  })

  app.get('/kb/:kb/sources/:id/archive', { config: curators, schema }, async (request, reply) =>
    send(reply, archivePage(visitOf(request), await findSource(ctx, request, request.params))),
  )

  app.post('/kb/:kb/sources/:id/archive', { config: curators, schema }, async (request, reply) => {
    const { kb, source } = await findSource(ctx, request, request.params)
    await archiveSource(ctx, callerOf(request), source.id)
    return reply.redirect(`${sourcesPage(kb.slug)}?done=archived`, 303)
  })
}

/** Forms with a file, which is read as it arrives. */
function uploadRoutes(app: ZodFastify, ctx: AppContext): void {
  const options = { config: { ...curators, upload: true, readsForm: true }, bodyLimit: maxFormBytes }

  app.post('/kb/:kb/sources', { ...options, schema: { params: KbParams } }, async (request, reply) => {
    const { kb } = request.params
    let fields: OpenForm['fields'] = new Map()
    try {
      const form = await openForm(request)
      fields = form.fields
      const asked = { replace: fields.get('replace') === 'true', force: fields.get('force') === 'true' }
      const source = await uploadSource(ctx, callerOf(request), kb, partsOf(form, fields.get('path') ?? '/'), asked)
      return reply.redirect(`${sourcePage(kb, source.id)}?done=uploaded`, 303)
    } catch (error) {
      const { status, ...attempt } = refusedUpload(error, fields)
      return sendList(ctx, request, reply, { kb, query: {}, attempt, status })
    }
  })

  app.post('/kb/:kb/sources/:id/replace', { ...options, schema: { params: SourcePath } }, async (request, reply) => {
    const { kb, source } = await findSource(ctx, request, request.params)
    try {
      const form = await openForm(request)
      const edition = { ...form, file: { ...form.file, filename: editionName(source, form.file.filename) } }
      const asked = { replace: true, force: false }
      const { id } = await uploadSource(ctx, callerOf(request), kb.slug, partsOf(edition, source.path), asked)
      return reply.redirect(`${sourcePage(kb.slug, id)}?done=uploaded`, 303)
    } catch (error) {
      const { status, errors } = refusedUpload(error, new Map())
      return sendSource(ctx, request, reply, { ...request.params, place: {}, errors, status })
    }
  })
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

async function sendList(
  ctx: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    kb: kbName,
    query,
    attempt,
    notice,
    status,
  }: { kb: string; query: SourceListQuery; attempt?: UploadAttempt; notice?: string | undefined; status?: number },
): Promise<FastifyReply> {
  const caller = callerOf(request)
  const visit = visitOf(request)
  const isCurator = reaches(visit.session.role, 'curator')
  const { text, folder, type, cursor } = query
  const [kb, accepted, page, openUploads] = await Promise.all([
    describeKb(ctx, caller, kbName),
    describeUploads(ctx, caller, kbName),
    listSources(ctx, caller, kbName, {
      ...{ limit: sourcesPerPage, text, folder, fileType: type, statuses: statusesOf[query.status ?? ''] },
      ...(cursor === undefined ? {} : { cursor }),
    }),
    isCurator ? listOpenUploads(ctx, caller, kbName) : [],
  ])
  const { documents: sources, nextCursor } = page
  // Readers do not learn of Sources that they may not see.
  const total = isCurator ? await ctx.sources.countOf(kb.id) : undefined
  return send(
    reply,
    sourceListPage(visit, { kb, query, total, sources, nextCursor, ...accepted, openUploads, attempt, notice }),
    status,
  )
}

async function sendSource(
  ctx: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    place,
    errors,
    notice,
    status,
    ...path
  }: z.output<typeof SourcePath> & {
    place: Omit<z.output<typeof TextQuery>, 'done'>
    errors?: UploadAttempt['errors']
    notice?: string | undefined
    status?: number
  },
): Promise<FastifyReply> {
  const caller = callerOf(request)
  const { kb, source } = await findSource(ctx, request, path)
  const [outcome, text, placed] = await Promise.all([
    readSourceOutcome(ctx, caller, source.id),
    readSourceText(ctx, caller, source.id, place),
    readPlacedNeurons(ctx, caller, source.id),
  ])
  return send(reply, sourceDetailPage(visitOf(request), { kb, source, outcome, text, placed, errors, notice }), status)
}

/** @throws {GanglionError} `not_found`, also for a Source of another knowledge base. */
async function findSource(ctx: AppContext, request: FastifyRequest, { kb: kbName, id }: z.output<typeof SourcePath>) {
  const caller = callerOf(request)
  const [kb, source] = await Promise.all([describeKb(ctx, caller, kbName), readSource(ctx, caller, id)])
  if (source.knowledgeBaseId !== kb.id) throw new GanglionError('not_found')
  return { kb, source }
}

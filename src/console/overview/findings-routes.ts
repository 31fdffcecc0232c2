import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { candidatePage, kbPage, neuronPage } from '../../contract/console-paths.ts'
import { GanglionError } from '../../contract/errors.ts'
import { SeqId } from '../../contract/vocabulary.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { lintNow } from '../../operate/lint/lint-kb.ts'
import { findingRules, listFindings } from '../../operate/lint/list-findings.ts'
import { proposeFinding } from '../../operate/lint/propose-finding.ts'
import { readKbOverview } from '../../operate/overview/read-overview.ts'
import { type Html, html } from '../layout/html-template.ts'
import { KbParams, withQuery } from '../layout/page-query.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { counted } from '../layout/wording.ts'
import { type FindingsView, findingsPage } from './findings-page.ts'

const findingsOnPage = 25

/** What a form has led to, with commas between. */
const listOf = (item: z.ZodString | z.ZodUUID) =>
  z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(item).max(20))
    .catch([])
const Query = z.object({
  rule: z.enum(findingRules).optional().catch(undefined),
  from: z.coerce.number().int().min(0).max(1e9).catch(0),
  proposed: z.coerce.number().int().min(0).max(1e6).optional().catch(undefined),
  changes: listOf(z.uuid()),
  byHand: listOf(SeqId),
})
const Settling = z.object({ fingerprint: z.string().max(100), choice: SeqId })

export function findingsRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'curator' } as const

  app.get('/kb/:kb/findings', { config, schema: { params: KbParams, querystring: Query } }, async (request, reply) => {
    const { params, query } = request
    return sendFindings(request, reply, params.kb, query, { notice: noticeOf(params.kb, query) })
  })

  app.post(
    '/kb/:kb/findings',
    { config, schema: { params: KbParams, querystring: Query, body: Settling } },
    async (request, reply) => {
      const { kb } = request.params
      try {
        const { candidateIds, byHand } = await proposeFinding(ctx, callerOf(request), kb, request.body)
        const { rule, from } = request.query
        const done = { changes: candidateIds.join(','), byHand: byHand.map(({ seqId }) => seqId).join(',') }
        return reply.redirect(withQuery(`${kbPage(kb)}/findings`, { rule, from, ...done }), 303)
      } catch (error) {
        if (!(error instanceof GanglionError)) throw error
        const problem =
          error.code === 'not_found'
            ? 'This finding is gone: somebody has settled it, or the pages have changed.'
            : error.message
        return sendFindings(
          request,
          reply,
          kb,
          request.query,
          { problem },
          error.code === 'not_found' ? 409 : error.status,
        )
      }
    },
  )

  app.post('/kb/:kb/findings/lint', { config, schema: { params: KbParams } }, async (request, reply) => {
    const { kb } = request.params
    const { findings } = await lintNow(ctx, callerOf(request), kb)
    const proposed = findings.filter(({ status }) => status === 'proposed').length
    return reply.redirect(withQuery(`${kbPage(kb)}/findings`, { proposed }), 303)
  })

  async function sendFindings(
    request: FastifyRequest,
    reply: FastifyReply,
    kbName: string,
    { rule, from }: Pick<z.infer<typeof Query>, 'rule' | 'from'>,
    said: Pick<FindingsView, 'notice' | 'problem'>,
    status = 200,
  ): Promise<FastifyReply> {
    const caller = callerOf(request)
    const kb = await readKbOverview(ctx, caller, kbName)
    const findings = await listFindings(ctx, caller, kb.slug, { rule, from, limit: findingsOnPage })
    const view = { kb, findings, rule, from, now: new Date(), ...said }
    return send(reply, findingsPage(visitOf(request), view), status)
  }
}

function noticeOf(kb: string, { proposed, changes, byHand }: z.infer<typeof Query>): Html | undefined {
  if (proposed === 0) return html`There is nothing new.`
  if (proposed !== undefined) {
    return html`${counted(proposed, 'finding')} put into <a href="${withQuery('/queue', { kb, connector: 'lint' })}">the queue</a>.`
  }
  if (changes.length + byHand.length === 0) return undefined
  return html`${
    changes.length > 0 &&
    html`${counted(changes.length, 'change')} proposed:
      ${changes.map((id, index) => html`<a href="${candidatePage(id)}">change ${index + 1}</a> `)}`
  }
  ${
    byHand.length > 0 &&
    html`To be edited by hand, since the link stands in the front matter or in text that is too complex:
      ${byHand.map((seqId) => html`<a href="${neuronPage(kb, seqId)}/edit">${seqId}</a> `)}`
  }`
}

import type { AppContext } from '../../app/open-context.ts'
import { GanglionError } from '../../contract/errors.ts'
import { KbPath } from '../../contract/search.ts'
import {
  AuditEntries,
  AuditQuery,
  KnowledgeBaseChange,
  KnowledgeBaseDeletion,
  KnowledgeBaseState,
  TenantReport,
} from '../../contract/tenant-report.ts'
import { listAudit } from '../../kb/access/audit.ts'
import { changeKb, deleteKb, findAnyKb } from '../../operate/life-cycle.ts'
import { usageOf } from '../../operate/usage.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors, writeErrors } from '../response/error-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'

/** Adds the routes of administrators, who are people: no API key has the role. */
export function tenantRoutes(app: ZodFastify, ctx: AppContext): void {
  const tags = ['Administration']
  const config = { people: 'admin', roles: [] } as const

  app.get(
    '/tenant',
    {
      config,
      schema: {
        tags,
        operationId: 'readTenant',
        summary: 'Read the tenant',
        description: 'Returns the tenant with what it uses and may use. For sessions of administrators only.',
        response: { 200: TenantReport, ...readErrors('insufficient_role') },
      },
    },
    async (request) => {
      const tenant = await ctx.tenants.get(callerOf(request).tenantId)
      if (tenant === undefined) throw new GanglionError('not_found')
      const { id, slug, quotas } = tenant
      const { knowledgeBases, ...sums } = await usageOf(ctx, tenant)
      const kbs = knowledgeBases.map(({ isDisabled, ...kb }) => ({ ...kb, disabled: isDisabled }))
      return { id, slug, quotas, knowledgeBases: kbs, ...sums }
    },
  )

  app.get(
    '/audit',
    {
      config,
      schema: {
        tags,
        operationId: 'listAudit',
        summary: 'List the audit',
        description: 'Returns a page of who did what to the tenant. For sessions of administrators only.',
        querystring: AuditQuery,
        response: { 200: AuditEntries, ...readErrors('insufficient_role') },
      },
    },
    (request) => listAudit(ctx, callerOf(request).tenantId, request.query.before),
  )

  app.patch(
    '/knowledge-bases/:kbId',
    {
      config,
      schema: {
        tags,
        operationId: 'changeKnowledgeBase',
        summary: 'Change a knowledge base',
        description:
          'Renames, disables or enables a knowledge base. A disabled knowledge base does not exist for any other request. For sessions of ' +
          'administrators only. Fails with `already_exists` if another one has, or had, the slug.',
        params: KbPath,
        body: KnowledgeBaseChange,
        response: { 200: KnowledgeBaseState, ...writeErrors('insufficient_role', 'already_exists') },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const kb = await findAnyKb(ctx, caller.tenantId, request.params.kbId)
      const { slug, disabled } = request.body
      await changeKb(ctx, caller, kb, { slug, isDisabled: disabled })
      const changed = await findAnyKb(ctx, caller.tenantId, kb.id)
      return { id: kb.id, slug: changed.slug, disabled: changed.disabledAt !== null }
    },
  )

  app.delete(
    '/knowledge-bases/:kbId',
    {
      config,
      schema: {
        tags,
        operationId: 'deleteKnowledgeBase',
        summary: 'Delete a knowledge base',
        description:
          'Exports a disabled knowledge base on the server, then deletes it. For sessions of administrators only. ' +
          'Fails with `not_disabled` if it is served.',
        params: KbPath,
        response: { 200: KnowledgeBaseDeletion, ...writeErrors('insufficient_role', 'not_disabled') },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const kb = await findAnyKb(ctx, caller.tenantId, request.params.kbId)
      return { id: kb.id, export: await deleteKb(ctx, caller, kb) }
    },
  )
}

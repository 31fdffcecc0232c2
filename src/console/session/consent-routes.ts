import type { FastifyReply, FastifyRequest } from 'fastify'
import type { InteractionResults, Provider } from 'oidc-provider'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError } from '../../contract/errors.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { callerOf } from '../../http/access/auth.ts'
import { agentAddress, audienceOf } from '../../http/oauth/agent-address.ts'
import { agentScopes, authorizationServer } from '../../http/oauth/authorization-server.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import { connectAgent } from '../../people/manage-api-keys.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { consentPage, goingBackPage } from './consent-page.ts'

const Params = z.object({ client_id: z.string(), redirect_uri: z.string(), scope: z.string().default('') })
const Decision = z.object({ decision: z.enum(['allow', 'deny']), propose: z.string().optional() })

/** Adds the page on which a person lets an agent in. */
export function consentRoutes(app: ZodFastify, ctx: AppContext): void {
  const schema = { params: z.object({ uid: z.string() }) }

  app.get('/oauth/consent/:uid', { schema }, async (request, reply) => {
    const { client, asked, mayPropose } = await read(request, reply)
    const { knowledgeBases } = await listKnowledgeBases(ctx, callerOf(request))
    const to = new URL(asked.redirect_uri)
    const view = { uid: request.params.uid, client, goesTo: to.host || to.protocol, knowledgeBases, mayPropose }
    return send(reply, consentPage(visitOf(request), view))
  })

  app.post('/oauth/consent/:uid', { schema: { ...schema, body: Decision } }, async (request, reply) => {
    const { provider, address, client, asked, mayPropose } = await read(request, reply)
    const { decision, propose } = request.body
    const { user } = visitOf(request).session
    let result: InteractionResults = { error: 'access_denied', error_description: 'The person refused.' }
    if (decision === 'allow') {
      const grant = new provider.Grant({ accountId: user.id, clientId: asked.client_id })
      const granted: readonly string[] = mayPropose && propose !== undefined ? agentScopes : ['read']
      const refused = agentScopes.filter((scope) => !granted.includes(scope))
      grant.addOIDCScope(granted.join(' '))
      grant.addResourceScope(audienceOf(address), granted.join(' '))
      if (refused.length > 0) {
        grant.rejectOIDCScope(refused.join(' '))
        grant.rejectResourceScope(audienceOf(address), refused.join(' '))
      }
      const grantId = await grant.save()
      const role = granted.includes('propose') ? 'app' : 'reader'
      await connectAgent(ctx, callerOf(request), { client, role, grantId, clientId: asked.client_id })
      result = { login: { accountId: user.id }, consent: { grantId } }
    }
    const to = await provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission: false })
    return send(reply.header('refresh', `0; url=${to}`), goingBackPage(visitOf(request), to))
  })

  async function read(request: FastifyRequest, reply: FastifyReply) {
    const address = agentAddress(request, ctx)
    if (address === undefined) throw new GanglionError('not_found')
    const provider = await authorizationServer(ctx, address)
    const params = await askedOf(provider, request, reply)
    const asked = Params.parse(params)
    const known = await provider.Client.find(asked.client_id)
    if (known === undefined) throw new GanglionError('link_expired')
    const isCurator = reaches(visitOf(request).session.role, 'curator')
    const mayPropose = isCurator && asked.scope.split(' ').includes('propose')
    return { provider, address, asked, mayPropose, client: known.clientName ?? 'An agent without a name' }
  }
}

/** What the agent asked for, in this browser. @throws {GanglionError} `link_expired` */
async function askedOf(provider: Provider, { raw }: FastifyRequest, reply: FastifyReply) {
  try {
    return (await provider.interactionDetails(raw, reply.raw)).params
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'SessionNotFound') throw new GanglionError('link_expired')
    throw cause
  }
}

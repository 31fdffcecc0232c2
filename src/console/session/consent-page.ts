import type { FastifyReply, FastifyRequest } from 'fastify'
import type { InteractionResults, Provider } from 'oidc-provider'
import { z } from 'zod'
import { GanglionError } from '../../contract/errors.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { agentAddress, audienceOf } from '../../http/oauth/agent-address.ts'
import { agentScopes, authorizationServer } from '../../http/oauth/authorization-server.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import { connectAgent } from '../../people/manage-api-keys.ts'
import { button, controlsOf, form } from '../layout/form.ts'
import { html } from '../layout/html-template.ts'
import { page } from '../layout/page.ts'
import { type ConsoleRequest, consolePages } from '../layout/page-routes.ts'

const Params = z.object({ client_id: z.string(), redirect_uri: z.string(), scope: z.string().default('') })
const Decision = z.object({ decision: z.enum(['allow', 'deny']), propose: z.string().optional() })

export const consentRoutes = consolePages({}, (pages, ctx) => {
  const params = z.object({ uid: z.string() })

  pages.get('/oauth/consent/:uid', { params }, async (sent) => {
    const { client, asked, mayPropose } = await read(sent)
    const { knowledgeBases } = await listKnowledgeBases(ctx, sent.caller)
    const { host, protocol } = new URL(asked.redirect_uri)
    const { user, tenant } = sent.visit.session
    const { check } = controlsOf({ propose: 'true' })
    return page(sent.visit, {
      title: 'Connect an agent',
      main: html`<h1>Connect <bdi>${client}</bdi>?</h1>
        <p>The agent chose this name itself. Your answer is sent to <strong><bdi>${host || protocol}</bdi></strong>. Connect it only if you started this yourself. You are
          signed in as ${user.name} (${user.email}), in the tenant <bdi>${tenant.slug}</bdi>.</p>
        <h2>It may read and ask</h2>
        ${
          knowledgeBases.length === 0
            ? html`<p>There are no knowledge bases yet. It may read new ones.</p>`
            : html`<p>These knowledge bases and new ones, as far as the role of its key allows:</p>
              <ul>${knowledgeBases.map(({ slug, title }) => html`<li><bdi>${title}</bdi> <span class="hint">${slug}</span></li>`)}</ul>`
        }
        ${form(sent.visit, { action: `/oauth/consent/${sent.params.uid}` }, [
          mayPropose &&
            check(
              'propose',
              'It may also propose: new pages, corrections and removals, which the policy or a curator decides on',
            ),
          html`<p class="hint">You can disconnect it in your account at any time.</p>`,
          html`<p class="row">${button('Connect', { name: 'decision', value: 'allow' })}
            ${button('Refuse', { name: 'decision', value: 'deny', class: 'second' })}</p>`,
        ])}`,
    })
  })

  pages.post('/oauth/consent/:uid', { params, body: Decision }, async (sent) => {
    const { provider, address, client, asked, mayPropose } = await read(sent)
    const { request, reply, visit, caller } = sent
    const { decision, propose } = sent.body
    const { user } = visit.session
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
      await connectAgent(ctx, caller, { client, role, grantId, clientId: asked.client_id })
      result = { login: { accountId: user.id }, consent: { grantId } }
    }
    const to = await provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission: false })
    // Redirects by a header: the content security policy allows forms to lead to this server only.
    reply.header('refresh', `0; url=${to}`)
    return page(visit, {
      title: 'Going back',
      main: html`<h1>Going back to the agent</h1><p><a href="${to}">Go on</a>, if nothing happens.</p>`,
    })
  })

  async function read({ request, reply, visit }: Pick<ConsoleRequest, 'request' | 'reply' | 'visit'>) {
    const address = agentAddress(request, ctx)
    if (address === undefined) throw new GanglionError('not_found')
    const provider = await authorizationServer(ctx, address)
    const params = await askedOf(provider, request, reply)
    const asked = Params.parse(params)
    const known = await provider.Client.find(asked.client_id)
    if (known === undefined) throw new GanglionError('link_expired')
    const isCurator = reaches(visit.session.role, 'curator')
    const mayPropose = isCurator && asked.scope.split(' ').includes('propose')
    return { provider, address, asked, mayPropose, client: known.clientName ?? 'An agent without a name' }
  }
})

/** Returns the parameters of the agent's request in this browser. @throws {GanglionError} `link_expired` */
async function askedOf(provider: Provider, { raw }: FastifyRequest, reply: FastifyReply) {
  try {
    return (await provider.interactionDetails(raw, reply.raw)).params
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'SessionNotFound') throw new GanglionError('link_expired')
    throw cause
  }
}

import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import {
  DeliveryAttempt,
  KeyChange,
  KeyPage,
  KeyPath,
  KeyQuery,
  ListedKey,
  ListedWebhook,
  MadeKey,
  MadeWebhook,
  NewApiKey,
  NewWebhook,
  WebhookChange,
  WebhookDetail,
  WebhookList,
  WebhookPath,
} from '../../contract/administration.ts'
import {
  addWebhook,
  changeWebhook,
  listWebhooks,
  readWebhook,
  removeWebhook,
  rotateWebhook,
  testWebhook,
} from '../../events/webhooks/manage-webhooks.ts'
import { createApiKey, keySummary, limitApiKey, listApiKeys, revokeApiKey } from '../../people/manage-api-keys.ts'
import { createWithSecret } from '../../state/run-idempotent.ts'
import { IdempotencyHeader } from '../request/idempotency-header.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

/** Adds the operations on webhooks and API keys. The answers with a secret may not be cached. */
export function administrationRoutes(app: ZodFastify, ctx: AppContext): void {
  const forCurators = operationsOf(app, ctx, 'Administration', { roles: ['curator'] })
  const forAdmins = operationsOf(app, ctx, 'Administration', { roles: ['curator'], people: 'admin' })
  const receiver = { allowPrivate: ctx.webhookPrivate }

  forCurators.get('/webhooks', {
    operationId: 'listWebhooks',
    summary: 'List webhooks',
    description:
      'Returns the webhooks that the caller may manage: those of one knowledge base for a curator, all of the tenant ' +
      'for an administrator. For a curator others do not exist, here and below.',
    querystring: z.object({}),
    answers: { 200: WebhookList },
    run: async ({ caller }) => ({ webhooks: await listWebhooks(ctx, caller) }),
  })

  forCurators.post('/webhooks', {
    operationId: 'createWebhook',
    summary: 'Create a webhook',
    description:
      'Sends future events to a URL, signed as Standard Webhooks has it. Only this response has the secret. Idempotent ' +
      'with an `Idempotency-Key`; the repeated response lacks the secret. Fails with 400 if the host has no public ' +
      'address or the tenant has 100 webhooks, and with `insufficient_role` if a curator names no knowledge base.',
    headers: IdempotencyHeader,
    body: NewWebhook,
    answers: { 201: MadeWebhook },
    errors: ['idempotency_key_reused'],
    run: ({ caller, body, headers, reply }) => {
      reply.header('cache-control', 'no-store')
      const keyed = {
        ...{ idempotencyKey: headers['idempotency-key'], route: 'POST /api/v1/webhooks', body },
        parse: (answer: unknown) => ListedWebhook.parse(answer),
        committed: async (made: string) => (await listWebhooks(ctx, caller)).find(({ id }) => id === made),
      }
      return createWithSecret(ctx, caller, keyed, (id) => addWebhook(ctx, caller, body, receiver, id))
    },
  })

  forCurators.get('/webhooks/:id', {
    operationId: 'readWebhook',
    summary: 'Read a webhook and its last deliveries',
    description: 'Returns the state of a webhook, and the outcomes of the last messages, without their content.',
    params: WebhookPath,
    answers: { 200: WebhookDetail },
    run: ({ caller, params }) => readWebhook(ctx, caller, params.id),
  })

  forCurators.patch('/webhooks/:id', {
    operationId: 'changeWebhook',
    summary: 'Change or pause a webhook',
    description:
      'Changes, pauses or resumes a webhook. The next message is due at once. Idempotent. Fails with 400 as `createWebhook`.',
    params: WebhookPath,
    body: WebhookChange,
    answers: { 200: ListedWebhook },
    run: ({ caller, params, body }) => changeWebhook(ctx, caller, params.id, body, receiver),
  })

  forCurators.delete('/webhooks/:id', {
    operationId: 'removeWebhook',
    summary: 'Remove a webhook',
    description: 'Sends nothing more, but for a message that is on its way. A second request fails with `not_found`.',
    params: WebhookPath,
    answers: { 204: z.null().describe('The webhook is removed.') },
    run: ({ caller, params }) => removeWebhook(ctx, caller, params.id),
  })

  forCurators.post('/webhooks/:id/rotate', {
    operationId: 'rotateWebhook',
    summary: 'Replace the secret of a webhook',
    description:
      'Only this response has the new secret. For 24 hours each message has a signature with the former secret, too. Not ' +
      'idempotent. Fails with 400 if four former secrets are valid.',
    params: WebhookPath,
    answers: { 200: MadeWebhook },
    run: ({ caller, params, reply }) => {
      reply.header('cache-control', 'no-store')
      return rotateWebhook(ctx, caller, params.id)
    },
  })

  forCurators.post('/webhooks/:id/test', {
    operationId: 'testWebhook',
    summary: 'Send a test message',
    description: 'Sends a message of the type `webhook.test` now, and returns its outcome, after at most 15 seconds.',
    params: WebhookPath,
    answers: { 200: DeliveryAttempt },
    run: ({ caller, params }) => testWebhook(ctx, caller, params.id, receiver),
  })

  forAdmins.get('/keys', {
    operationId: 'listKeys',
    summary: 'List API keys',
    description: "Returns a page of the tenant's keys, newest first, with revoked and expired ones.",
    querystring: KeyQuery,
    answers: { 200: KeyPage },
    run: ({ caller, query }) => listApiKeys(ctx, caller, query),
  })

  forAdmins.post('/keys', {
    operationId: 'createKey',
    summary: 'Create an API key',
    description:
      'Only this response has the token. The key counts as the person or key that makes it, and never may do more: a key ' +
      'makes no key with other connectors, or that expires later. Idempotent with an `Idempotency-Key`; the repeated ' +
      'response lacks the token. Fails with `insufficient_role` unless the caller is an administrator or a key of the role `admin`.',
    headers: IdempotencyHeader,
    body: NewApiKey,
    answers: { 201: MadeKey },
    errors: ['idempotency_key_reused'],
    run: async ({ caller, body, headers, reply }) => {
      reply.header('cache-control', 'no-store')
      const keyed = {
        ...{ idempotencyKey: headers['idempotency-key'], route: 'POST /api/v1/keys', body },
        parse: (answer: unknown) => ListedKey.parse(answer),
        committed: async (id: string) =>
          (await ctx.apiKeys.list(caller.tenantId)).map(keySummary).find((key) => key.id === id),
      }
      const { secret: token, ...key } = await createWithSecret(ctx, caller, keyed, async (id) => {
        const { key, token } = await createApiKey(ctx, caller, body, id)
        return { ...key, secret: token }
      })
      return { ...key, token }
    },
  })

  forAdmins.patch('/keys/:id', {
    operationId: 'limitKey',
    summary: 'Set what an API key may propose',
    description: 'Replaces the limits of a key. Idempotent.',
    params: KeyPath,
    body: KeyChange,
    answers: { 200: ListedKey },
    run: ({ caller, params, body }) => limitApiKey(ctx, caller, params.id, body.limits),
  })

  forAdmins.delete('/keys/:id', {
    operationId: 'revokeKey',
    summary: 'Revoke an API key',
    description: 'Refuses the key from now on. Keys that it made remain. Idempotent.',
    params: KeyPath,
    answers: { 204: z.null().describe('The key is revoked.') },
    run: ({ caller, params }) => revokeApiKey(ctx, caller, params.id),
  })
}

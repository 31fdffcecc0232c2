import createClient, { type Middleware } from 'openapi-fetch'
import type { paths } from '../../packages/client/src/schema.ts'

/** Called operation, as `post /api/v1/chat`, and the status of its answer. */
export type Call = { operation: string; status: number }

type Server = {
  url: string
  /** Token of a curator. */
  token: string
  /** Slug of a knowledge base with a Neuron. */
  kb: string
  seqId: string
  /** Path of a file in the repository that is no Neuron. */
  file: string
}

/**
 * Calls every operation of the API by a generated client, with nothing but what the description requires. It compiles only if
 * what may be left out of a request may be left out here.
 * @returns the calls in their order.
 */
export async function callEveryOperation({ url, token, kb, seqId, file }: Server): Promise<Call[]> {
  const calls: Call[] = []
  const recorder: Middleware = {
    onResponse: ({ request, schemaPath, response }) => {
      calls.push({ operation: `${request.method.toLowerCase()} ${schemaPath}`, status: response.status })
    },
  }
  const api = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${token}` } })
  api.use(recorder)
  const inKb = { path: { kbId: kb } }

  await api.GET('/openapi.json')
  await api.GET('/healthz')
  await api.GET('/readyz')
  await api.GET('/metrics', { parseAs: 'text' })

  const submit = async (title: string) => {
    const { data } = await api.POST('/api/v1/queue/candidates', {
      body: { knowledgeBaseId: kb, kind: 'external-feed', title, content: 'Nine to five.' },
    })
    return { path: { id: known(data?.candidateId) } }
  }
  const first = await submit('Opening hours')
  await api.POST('/api/v1/queue/candidates/batch', {
    body: { candidates: [{ kb, kind: 'external-feed', title: 'Prices', content: 'None.' }] },
  })
  const second = await submit('Holidays')
  await api.GET('/api/v1/queue/candidates')
  await api.GET('/api/v1/queue/candidates/{id}', { params: first })
  await api.POST('/api/v1/queue/candidates/{id}/comment', { params: first, body: { comment: 'Since when?' } })
  await api.POST('/api/v1/queue/candidates/{id}/request-changes', { params: first, body: { reason: 'Since when?' } })
  await api.POST('/api/v1/queue/candidates/{id}/assign', { params: first, body: { assignee: null } })
  await api.PUT('/api/v1/queue/candidates/{id}', { params: first, body: { content: 'Nine to six.' } })
  await api.PUT('/api/v1/queue/candidates/batch', {
    body: { candidates: [{ candidateId: first.path.id, content: 'Nine to seven.' }] },
  })
  await api.DELETE('/api/v1/queue/candidates/{id}', { params: await submit('A mistake') })
  await api.POST('/api/v1/queue/candidates/{id}/approve', { params: first })
  await api.POST('/api/v1/queue/candidates/{id}/dismiss', { params: second })
  await api.POST('/api/v1/queue/candidates/{id}/reopen', { params: second })

  await api.POST('/api/v1/knowledge-bases/{kbId}/undo', {
    params: inKb,
    body: { by: 'connector', writer: 'mcp', since: '2026-11-26T08:00:00Z' },
  })

  await api.POST('/api/v1/knowledge-bases/{kbId}/tests', { params: inKb, body: { question: 'When is it open?' } })
  await api.GET('/api/v1/knowledge-bases/{kbId}/tests', { params: inKb })
  await api.POST('/api/v1/knowledge-bases/{kbId}/tests/dismiss', {
    params: inKb,
    body: { question: 'When is it shut?' },
  })

  await api.GET('/api/v1/me')
  await api.PATCH('/api/v1/me', { body: { notices: 'off' } })
  await api.GET('/api/v1/me/candidates')
  await api.GET('/api/v1/me/candidates/{id}', { params: first })
  await api.GET('/api/v1/knowledge-bases')
  await api.GET('/api/v1/knowledge-bases/{kbId}/neurons', { params: inKb })
  await api.GET('/api/v1/knowledge-bases/{kbId}/graph', { params: inKb })
  await api.GET('/api/v1/knowledge-bases/{kbId}/llms.txt', { params: inKb, parseAs: 'text' })
  await api.GET('/api/v1/neurons/{kb}/{seqId}', { params: { path: { kb, seqId } } })
  await api.GET('/api/v1/neurons/{kb}/{seqId}.md', { params: { path: { kb, seqId } }, parseAs: 'text' })
  await api.POST('/api/v1/neurons/{kb}/{seqId}/still-true', { params: { path: { kb, seqId } } })
  await api.GET('/api/v1/neurons/{kb}/{seqId}/blame', { params: { path: { kb, seqId } } })
  await api.GET('/api/v1/knowledge-bases/{kbId}/files/{path}', {
    params: { path: { kbId: kb, path: file } },
    parseAs: 'text',
  })
  await api.GET('/api/v1/knowledge-bases/{kbId}/search', { params: { ...inKb, query: { q: 'opening' } } })
  await api.GET('/api/v1/search', { params: { query: { kb, q: 'opening' } } })
  await api.POST('/api/v1/knowledge-bases/{kbId}/retrieve', { params: inKb, body: { query: 'When is it open?' } })
  await api.POST('/api/v1/chat', { body: { message: 'When is it open?' } })
  await api.POST('/api/v1/knowledge-bases/{kbId}/reader-feedback', {
    params: inKb,
    body: { vote: 'up', question: 'When is it open?', answer: 'Nine to five.' },
  })
  const { data: source } = await api.POST('/api/v1/knowledge-bases/{kbId}/documents/upload', {
    params: { ...inKb, query: { force: true } },
    body: { file: 'Open from nine to five.' },
    bodySerializer: ({ file }) => {
      const form = new FormData()
      form.set('file', new Blob([file]), 'hours.txt')
      return form
    },
  })
  const inSource = { path: { docId: known(source?.id) } }
  await api.GET('/api/v1/knowledge-bases/{kbId}/documents', { params: inKb })
  const status = async () => (await api.GET('/api/v1/documents/{docId}', { params: inSource })).data?.status
  while ((await status()) !== 'success') await new Promise((resolve) => setTimeout(resolve, 50))
  await api.GET('/api/v1/me/sources')
  await api.GET('/api/v1/me/sources/{docId}', { params: inSource })
  await api.GET('/api/v1/documents/{docId}/content', { params: inSource, parseAs: 'text' })
  await api.POST('/api/v1/documents/{docId}/ingest', { params: inSource })

  const begin = async () => {
    const { data } = await api.POST('/api/v1/knowledge-bases/{kbId}/documents/upload/init', {
      params: inKb,
      body: { filename: 'note.txt', fileSize: 4 },
    })
    return { path: { uploadId: known(data?.uploadId) } }
  }
  const inUpload = await begin()
  await api.PATCH('/api/v1/uploads/{uploadId}/chunk', {
    params: { ...inUpload, header: { 'content-range': 'bytes 0-3/4' } },
    headers: { 'content-type': 'application/octet-stream' },
    body: 'Note',
    bodySerializer: (chunk) => chunk,
  })
  await api.GET('/api/v1/uploads/{uploadId}', { params: inUpload })
  await api.POST('/api/v1/uploads/{uploadId}/finalize', { params: inUpload })
  await api.DELETE('/api/v1/uploads/{uploadId}', { params: await begin() })
  await api.DELETE('/api/v1/documents/{docId}', { params: inSource })

  const hook = await api.POST('/api/v1/webhooks', { body: { url: 'https://hooks.example.org' } })
  const inHook = { path: { id: known(hook.data?.id) } }
  await api.GET('/api/v1/webhooks')
  await api.GET('/api/v1/webhooks/{id}', { params: inHook })
  await api.PATCH('/api/v1/webhooks/{id}', { params: inHook, body: {} })
  await api.POST('/api/v1/webhooks/{id}/rotate', { params: inHook })
  await api.POST('/api/v1/webhooks/{id}/test', { params: inHook })
  await api.DELETE('/api/v1/webhooks/{id}', { params: inHook })
  const key = await api.POST('/api/v1/keys', { body: { name: 'site', role: 'app' } })
  const ofKey = { path: { id: known(key.data?.id) } }
  await api.GET('/api/v1/keys')
  await api.PATCH('/api/v1/keys/{id}', { params: ofKey, body: { limits: null } })
  await api.DELETE('/api/v1/keys/{id}', { params: ofKey })

  const { data: events } = await api.GET('/api/v1/events', { parseAs: 'stream' })
  await events?.cancel()
  return calls
}

function known(id: string | undefined): string {
  if (id === undefined) throw new Error('The answer holds no id.')
  return id
}

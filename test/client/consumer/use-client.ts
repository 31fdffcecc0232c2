import { Ganglion, NotFoundError, type Schemas } from '@ganglion/client'
import type { Delivery } from '@ganglion/client/webhooks'

export type Setup = {
  url: string
  /** Key of an administrator. */
  key: string
  /** Slug of a knowledge base. */
  kb: string
  /** Path of a file in its repository that is no Neuron. */
  file: string
  /** Path of a file on the disk, where there is one. */
  upload?: string
}

/** A request: its method and path, and whether it has an `Idempotency-Key`. */
export type Made = { method: string; path: string; hasKey: boolean }

/** Calls every method of the client once, in any runtime. @returns the requests that it made. */
export async function useClient({ url, key, kb: slug, file, upload }: Setup): Promise<Made[]> {
  const made: Made[] = []
  const ganglion = new Ganglion({
    url,
    key,
    fetch: (input, init) => {
      const { pathname } = new URL(String(input))
      const path = decodeURIComponent(pathname)
      made.push({ method: init?.method ?? 'GET', path, hasKey: new Headers(init?.headers).has('idempotency-key') })
      return fetch(input, init)
    },
  })
  const kb = ganglion.kb(slug)
  const run = Math.random().toString(36).slice(2)
  const draft = { kind: 'external-feed', content: 'Nine to five.', metadata: { tags: [run] } } as const

  const { name, role }: Schemas['Me'] = await ganglion.me.get()
  check(role === 'curator' && name !== '', 'the key')
  const slugs: string[] = []
  for await (const known of ganglion.knowledgeBases()) slugs.push(known.slug)
  check(slugs.includes(slug), 'the knowledge bases')

  const { data: first, response } = await kb.candidates.submit({ ...draft, title: `Hours ${run}` }).withResponse()
  check(response.status === 201 && response.headers.get('x-request-id') !== null, 'the response')
  const { results } = await ganglion.candidates.submitAll([
    { ...draft, knowledgeBaseId: slug, title: `Prices ${run}` },
    { ...draft, knowledgeBaseId: slug, title: `Parking ${run}` },
  ])
  const second = results[0]?.candidate?.candidateId ?? ''
  const queued = new Set<string>()
  for await (const { candidateId } of kb.candidates.list({ limit: 1, status: 'pending' })) queued.add(candidateId)
  check(queued.has(first.candidateId) && queued.has(second) && queued.size >= 3, 'the queue')
  check((await ganglion.candidates.get(second)).title === `Prices ${run}`, 'the candidate')
  await ganglion.candidates.comment(second, { comment: 'Since when?' })
  await ganglion.candidates.requestChanges(second, { reason: 'Say since when.' })
  await ganglion.candidates.assign(second, null)
  await ganglion.candidates.dismiss(second, { reason: 'Known' })
  await ganglion.candidates.reopen(second)
  const approval = await ganglion.candidates.approve(first.candidateId)
  const seqId = approval.status === 'approved' ? approval.seqId : ''
  check((await ganglion.me.candidate(first.candidateId)).seqId === seqId, 'the fate of what was sent')
  check((await ganglion.me.candidates({ kb: slug })).candidates.length > 0, 'what was sent')

  const neuron = await kb.neurons.get(seqId)
  check(neuron.tags.includes(run), 'the metadata')
  const tagged: string[] = []
  for await (const page of kb.neurons.list({ tag: run })) tagged.push(page.seqId)
  check(tagged.join() === seqId, 'the Neurons')
  check(Array.isArray((await kb.neurons.links(seqId)).backlinks), 'the links')
  check((await kb.neurons.stillTrue(seqId)).status === 'approved', 'the day of truth')
  check((await kb.neurons.blame(seqId)).sentences.length > 0, 'who said it')
  check((await kb.graph({ around: seqId })).nodes.length > 0, 'the graph')
  check((await kb.llms()).includes(seqId) || (await kb.llms()) !== '', 'the index')
  check((await kb.neurons.markdown(seqId)).startsWith('# '), 'the Markdown')
  check((await (await kb.file(file)).text()) !== '', 'the file')
  check((await kb.search(run)).documents.length > 0, 'the search')
  check((await ganglion.search(run, { kb: slug })).total > 0, 'the search of all')
  check((await kb.retrieve('nine to five', { topK: 1 })).chunks.length === 1, 'the passages')
  const { reversals } = await kb.undo({ by: 'connector', writer: 'mcp', since: '2026-11-26T08:00:00Z' })
  check(reversals.length === 0, 'an undo of nothing')

  await kb.addTest({ question: 'When is it open?' })
  check((await kb.tests()).passed === 1, 'the answer tests')

  check((await kb.dismissTest({ question: 'When is it shut?' })).candidates.length === 0, 'a proposed test')

  const asked = await kb.chat('When is it open?')
  let streamed = ''
  for await (const event of kb.chat.stream({ message: 'When is it open?' })) {
    if (event.type === 'delta') streamed += event.text
    if (event.type === 'done') check(event.answer.answer === streamed, 'the stream')
  }
  check(streamed !== '', 'the streamed answer')
  await kb.feedback({ vote: 'up', question: 'When is it open?', answer: asked.answer })

  const source = await kb.sources.upload(new Blob([`Open, ${run}.`]), {
    filename: 'hours.txt',
    metadata: { tags: [run] },
  })
  check((await ganglion.sources.wait(source.id)).status === 'success', 'the ingest')
  const sent: { sent: number; size: number }[] = []
  const chunked = await kb.sources.upload(new Blob([`In chunks, ${run}.`]).stream(), {
    filename: 'chunks.txt',
    size: new Blob([`In chunks, ${run}.`]).size,
    chunkedAbove: 0,
    onProgress: (progress) => sent.push(progress),
  })
  check(sent[0]?.sent === 0 && sent.at(-1)?.sent === chunked.fileSize, 'the progress')
  if (upload !== undefined) {
    const { uploadId } = await new Promise<{ uploadId: string }>((resolve, reject) => {
      const stop = new AbortController()
      kb.sources
        .upload(upload, {
          chunkedAbove: 0,
          force: true,
          signal: stop.signal,
          onProgress: ({ uploadId = '' }) => {
            stop.abort()
            resolve({ uploadId })
          },
        })
        .then(
          () => reject(new Error('not stopped')),
          () => {},
        )
    })
    check((await kb.sources.upload(upload, { resume: uploadId, force: true })).id !== '', 'the resumed upload')
  }
  const abandoned: string[] = []
  const stop = new AbortController()
  const aborted = kb.sources.upload(new Blob([`Not whole, ${run}.`]), {
    filename: 'not-whole.txt',
    chunkedAbove: 0,
    signal: stop.signal,
    onProgress: ({ uploadId = '' }) => {
      abandoned.push(uploadId)
      stop.abort()
    },
  })
  await aborted.then(
    () => check(false, 'the abort'),
    () => {},
  )
  await ganglion.sources.abandon(abandoned[0] ?? '')
  check((await (await ganglion.sources.content(source.id)).text()) === `Open, ${run}.`, 'the content')
  check((await ganglion.me.sources({ limit: 1 })).documents.length === 1, 'what was uploaded')
  check((await ganglion.me.source(source.id)).neuronCount > 0, 'what was made of it')
  check((await kb.sources.list({ limit: 1 })).nextCursor !== null, 'the Sources')
  check((await ganglion.sources.get(source.id)).connector === 'upload', 'the Source')
  check((await ganglion.sources.ingest(source.id)).ok, 'the second ingest')
  await ganglion.sources.wait(source.id)
  await ganglion.sources.archive(source.id)

  const { webhooks, keys } = ganglion
  const hook = await webhooks.create({ url: 'https://hooks.example.org', kb: slug })
  check(hook.secret?.startsWith('whsec_') === true, 'the secret of a webhook')
  check((await webhooks.rotate(hook.id)).secret !== hook.secret, 'the new secret')
  check((await webhooks.test(hook.id)).kind === 'webhook.test', 'the test of a webhook')
  check((await webhooks.get(hook.id)).deliveries.length === 1, 'the deliveries')
  check(!(await webhooks.change(hook.id, { isEnabled: false })).isEnabled, 'the pause')
  check(
    (await webhooks.list()).webhooks.some(({ id }) => id === hook.id),
    'the webhooks',
  )
  await webhooks.remove(hook.id)
  const another = await keys.create({ name: run, role: 'app', expiresAt: '2099-01-01T00:00:00Z' })
  check(another.token?.startsWith('gng_') === true, 'the token')
  check(
    (await keys.limit(another.id, { pending: 1, approved: null, paths: [], tags: [] })).limits?.pending === 1,
    'limits',
  )
  await keys.revoke(another.id)
  check(
    (await keys.list()).keys.some(({ id, revokedAt }) => id === another.id && revokedAt !== null),
    'the keys',
  )

  for await (const event of kb.events({ lastEventId: 0 })) {
    if (event.kind === 'candidate.approved' && event.candidateId === first.candidateId) break
  }
  const missing = await kb.neurons.get(`${slug}_99999999`).catch((error: unknown) => error)
  check(missing instanceof NotFoundError && missing.status === 404 && missing.requestId !== undefined, 'the error')
  return made
}

/** The types of webhooks compile, too. */
export const kindOf = ({ type }: Delivery): string => type

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`Not as expected: ${what}.`)
}

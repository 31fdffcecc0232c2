import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { mcpClient, textOf } from '../http/support/mcp-client.ts'
import type { Answer, Product, Send } from './support.ts'

/** A knowledge base `twin` of a tenant of its own, and what a caller may know of it beforehand. */
export type Twin = {
  tokens: { reader: string; app: string; curator: string }
  /** Headers of browsers in which people are signed in. */
  people: { reader: Record<string, string>; curator: Record<string, string> }
  /** seqIds of every page, hidden or not, and of one that never existed. */
  seqIds: string[]
  /** Commit from before pages were hidden. */
  commit: string
  /** Titles, aliases and words that pages have. */
  names: string[]
  words: string[]
  /** Bytes of hidden Sources of any twin. */
  bytes: string[]
  /** Paths of files that are no pages. */
  files: string[]
  /** The id of this twin's hidden Source. */
  hiddenSource: string
}

const kb = '/api/v1/knowledge-bases/twin'

/** Reads everything with a key: one line for each answer. */
export async function readAll(product: Product, twin: Twin, token: string): Promise<string[]> {
  const lines: string[] = []
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await product.request(method, path, { as: token, ...(body === undefined ? {} : { body }) })
    lines.push(lineOf(`${method} ${path} ${body === undefined ? '' : JSON.stringify(body)}`, answer))
  }
  const prefixes = new Set(twin.words.map((word) => `${word.slice(0, 2)}*`))
  const queries = [...twin.words, ...prefixes, '"alert rota"', 'alert OR desk', 'rota -desk', 'nosuchword']
  const misspelled = [...twin.words.map(swapped), 'zqalfa', 'rotadesk', 'alart nosuchword', 'alert zqbeta nosuchword']

  await ask('GET', '/api/v1/knowledge-bases')
  for (const path of [
    '/neurons',
    '/neurons?stale=true',
    '/neurons?owner=ada@example.com',
    '/tests',
    '/neurons?tag=plan',
    '/graph',
    '/graph?limit=3',
    '/llms.txt',
  ])
    await ask('GET', kb + path)
  await ask('GET', `${kb}/neurons?limit=2&cursor=${Buffer.from(twin.seqIds[1] ?? '').toString('base64url')}`)
  for (const seqId of twin.seqIds) {
    await ask('GET', `/api/v1/neurons/twin/${seqId}`)
    await ask('GET', `/api/v1/neurons/twin/${seqId}/blame`)
    for (const path of ['.md', `.md?at=${twin.commit}`, `?at=${twin.commit}`]) {
      await ask('GET', `/api/v1/neurons/twin/${seqId}${path}`)
    }
    await ask('GET', `${kb}/graph?around=${seqId}`)
  }
  for (const name of twin.files) await ask('GET', `${kb}/files/${encodeURIComponent(name)}`)
  for (const depth of [2, 5]) await ask('GET', `${kb}/graph?around=${twin.seqIds[0]}&depth=${depth}&limit=4`)
  if (token !== twin.tokens.curator) {
    const source = `/api/v1/documents/${twin.hiddenSource}`
    for (const path of [`${kb}/documents`, source, `${source}/content`]) await ask('GET', path)
  }
  for (const q of queries) await ask('GET', `${kb}/search?limit=5&q=${encodeURIComponent(q)}`)
  for (const q of misspelled) await ask('GET', `/api/v1/search?kb=twin&q=${encodeURIComponent(q)}`)
  for (const q of ['al', 'ro', 'zq', 'des', 'alert zq'])
    await ask('GET', `/api/v1/search?kb=twin&interactive=true&q=${encodeURIComponent(q)}`)
  // Without words the order would be by time.
  const filters = [
    'alert tag:plan',
    '-tag:team alert',
    'title:rota alert OR desk',
    'path:pages alert',
    'kind:wiki rota',
    'after:2020 al',
    'zqbeta path:2026',
  ]
  for (const q of filters) await ask('GET', `/api/v1/search?kb=twin&facets=true&limit=2&q=${encodeURIComponent(q)}`)
  for (const q of prefixes) await ask('GET', `/api/v1/search?kb=twin&kind=source&q=${encodeURIComponent(q)}`)
  for (const audience of ['tool', 'public', 'student', 'curator']) {
    await ask('POST', `${kb}/retrieve`, { query: twin.words.slice(0, 4).join(' '), audience, topK: 3, blame: true })
    if (audience !== 'student') {
      await ask('POST', '/api/v1/chat', { message: `What is ${twin.words[0]}?`, knowledgeBaseId: 'twin', audience })
    }
  }

  const client = await mcpClient(product.url, token)
  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: { kb: 'twin', ...args } })
    lines.push(`${name} ${JSON.stringify(args)} ${textOf(result)} ${JSON.stringify(result.structuredContent)}`)
  }
  for (const q of prefixes) await call('search', { q })
  await call('retrieve', { query: twin.words.join(' ') })
  await call('list_knowledge_bases', {})
  await call('ask', { message: `Who has the ${twin.words[1]}?` })
  for (const seqId of twin.seqIds) await call('read_neuron', { seqId })
  await client.close()
  return lines.map(normal(twin))
}

/** Reads what a person sees in a browser. */
export async function browseAll(product: Product, twin: Twin, headers: Record<string, string>): Promise<string[]> {
  const words = [...twin.words, 'zqalfa', 'tag:plan alert', 'al', '-desk rota'].map(encodeURIComponent)
  const own = [
    '',
    '/graph',
    '/graph/data',
    '/tags',
    '/tree',
    '/chat',
    '/sources',
    '/settings',
    '/findings',
    '/new',
    '/stale',
    '/tests',
  ]
  const ofPage = [
    '',
    '.md',
    `.md?at=${twin.commit}`,
    '/blame',
    '/history',
    '/history?from=1&to=2',
    `?at=${twin.commit}`,
    '/edit',
  ]
  const source = `/kb/twin/sources/${twin.hiddenSource}`
  const paths = [
    ...['/', '/activity', '/queue', source, `${source}/file`, `/api/v1/documents/${twin.hiddenSource}`],
    ...['tags?tag=plan', 'tags?tag=internal', 'tree?folder=pages', 'tree?folder=open'].map(
      (path) => `/kb/twin/${path}`,
    ),
    ...own.map((path) => `/kb/twin${path}`),
    ...twin.files.map((name) => `/kb/twin/files/${name}`),
    ...twin.seqIds.flatMap((seqId) => [
      ...ofPage.map((path) => `/kb/twin/neurons/${seqId}${path}`),
      `/kb/twin/graph/data?around=${seqId}`,
      `/kb/twin/graph?around=${seqId}`,
    ]),
    ...words.flatMap((q) => [`/search?q=${q}`, `/kb/twin/search?q=${q}`, `/palette?q=${q}`, `/palette?kb=twin&q=${q}`]),
  ]
  const lines: string[] = []
  for (const path of paths) {
    const answer = await fetch(product.url + path, { headers })
    lines.push(`GET ${path}: ${answer.status} ${await answer.text()}`)
  }
  return lines.map(normal(twin))
}

/** A word whose second and third letters have changed places. */
function swapped(word: string): string {
  return word.slice(0, 1) + word.slice(2, 3) + word.slice(1, 2) + word.slice(3)
}

/** Writes as an app, and reads the results. */
export async function writeAll(product: Product, twin: Twin): Promise<string[]> {
  const lines: string[] = []
  const ask = async (method: string, path: string, send: Send = {}): Promise<Answer> => {
    const answer = await product.request(method, path, { as: twin.tokens.app, ...send })
    lines.push(lineOf(`${method} ${path}`, answer))
    return answer
  }
  const submit = (candidate: Record<string, unknown>) =>
    ask('POST', '/api/v1/queue/candidates', {
      body: { knowledgeBaseId: 'twin', title: 'A title', content: 'Alert.', confidence: 0.95, ...candidate },
    })
  for (const targetNeuron of twin.seqIds.slice(1)) {
    for (const kind of ['user-correction', 'external-feed']) await submit({ kind, metadata: { targetNeuron } })
    const vote = { vote: 'down', question: 'Who?', answer: 'Me.', reason: 'No.', shouldCite: targetNeuron }
    await ask('POST', `${kb}/reader-feedback`, { body: vote })
  }
  const revised = async (first: Record<string, unknown>, versions: Record<string, unknown>[]) => {
    const { body } = await submit({ kind: 'user-correction', confidence: 0.1, ...first })
    const path = `/api/v1/queue/candidates/${body.candidateId}`
    for (const version of [...versions, {}]) await ask('PUT', path, { body: { content: 'Alert.', ...version } })
    const own = await product.request('GET', `/api/v1/me/candidates/${body.candidateId}`, { as: twin.tokens.app })
    lines.push(`GET ${path}: ${own.status} ${own.text}`)
    await ask('DELETE', path)
  }
  for (const targetNeuron of twin.seqIds.slice(1)) {
    const versions = [1, 2].map((baseVersion) => ({ metadata: { targetNeuron, baseVersion } }))
    const texts = [...twin.names, ...twin.bytes].map((text) => ({ title: text.slice(0, 80), content: text }))
    await revised({ metadata: { targetNeuron } }, [...texts, ...versions])
  }
  for (const title of twin.names) {
    const versions = [{ title, content: `See [[${title}]].` }, { metadata: { path: `pages/${title}` } }]
    await revised({ kind: 'external-feed' }, versions)
    const { body } = await submit({ kind: 'external-feed', title, content: `See [[${title}]] and [[desk]].` })
    await ask('GET', `/api/v1/neurons/twin/${body.seqId}`)
    await ask('GET', `/api/v1/search?kb=twin&q=desk&preview=${body.candidateId}`)
    const path = `pages/${title}`
    const wished = await submit({ kind: 'external-feed', title, metadata: { path } })
    await ask('GET', `/api/v1/neurons/twin/${wished.body.seqId}`)
    // Below what is a hidden page in some twin; then another page gets the name, and the links to it follow.
    const below = await submit({ kind: 'external-feed', metadata: { path: `${path}.md/x` } })
    await ask('GET', `/api/v1/neurons/twin/${below.body.seqId}`)
    const targetNeuron = String(body.seqId)
    await submit({ kind: 'user-correction', title: `New ${title}`, metadata: { targetNeuron } })
    await submit({ kind: 'user-correction', title, metadata: { targetNeuron } })
    await ask('GET', `/api/v1/neurons/twin/${targetNeuron}`)
    const citations = [{ documentId: twin.seqIds[3], path: `neurons/${path}.md`, filename: 'x.md' }]
    await ask('POST', `${kb}/reader-feedback`, { body: { vote: 'up', question: 'Who?', answer: 'Me.', citations } })
  }
  for (const [index, text] of twin.bytes.entries()) {
    const contentHash = createHash('sha256').update(text).digest('hex')
    const begin = { filename: 'again.md', fileSize: Buffer.byteLength(text), contentHash }
    await ask('POST', `${kb}/documents/upload/init`, { body: begin })
    for (const query of ['', '?replace=true']) {
      const form = new FormData()
      form.append('file', new Blob([`${text}${query}`]), `secret-${index}.md`)
      await ask('POST', `${kb}/documents/upload${query}`, { body: form })
    }
  }
  const ingested = await product.request('POST', `/api/v1/documents/${twin.hiddenSource}/ingest`, {
    as: twin.tokens.app,
  })
  lines.push(lineOf('ingest of the hidden Source', ingested))
  return lines.map(normal(twin))
}

function lineOf(asked: string, { status, headers, text }: Answer): string {
  const told = [...headers].filter(
    ([name]) => !/^(date|x-request-id|x-ratelimit-.*|ratelimit.*|content-length|etag)$/.test(name),
  )
  // Of the body, whose ids are random, and of nothing else.
  const tag = headers.get('etag')?.replace(/^W\/|^"[0-9a-f]{40}"$/, '') || null // that of a file is the id of its bytes
  const version = /^"([0-9a-f]{40}\.)/.exec(tag ?? '')?.[1] ?? ''
  if (version !== '') expect(text).toContain(`"commit":"${version.slice(0, -1)}"`)
  if (tag !== null) expect(tag).toBe(`"${version}${createHash('sha256').update(text).digest('base64url')}"`)
  return `${asked}: ${status} ${JSON.stringify(told)} ${text}`
}

/** Gives what is random by nature, ids, commits and times, names by the order in which it comes. */
function normal({ commit }: Twin): (line: string) => string {
  const names = new Map<string, string>([[commit, 'first commit']])
  const nameOf = (id: string) => {
    const name = names.get(id) ?? `id ${names.size}`
    names.set(id, name)
    return name
  }
  return (line) =>
    line
      .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, nameOf)
      .replace(/\b[0-9a-f]{40}\b/g, nameOf)
      .replace(/-[0-9a-f]{6}(?=\.md\b|\\?")/g, '-id')
      .replace(/(name="_csrf" value|name="csrf-token" content|data-csrf)="[^"]*"/g, '$1')
      .replace(/nonce-[\w+/=-]+|nonce=\\?"[^"]*"/g, 'nonce')
      .replace(/twin-[a-z]+-\d+-\d/g, 'tenant')
      .replace(
        /\d{4}-\d\d-\d\dT[\d:.]+Z|\d+ \w{3} \d{4}, \d\d:\d\d UTC|just now|\d+ (?:seconds?|minutes?) ago/g,
        'time',
      )
}

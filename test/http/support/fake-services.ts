import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { v7 as uuidv7 } from 'uuid'
import type { CandidateDetail, CandidateInput } from '../../../src/contract/candidates.ts'
import type { ChatAnswer, ChatQuestion, FeedbackInput } from '../../../src/contract/chat.ts'
import type { Source } from '../../../src/contract/documents.ts'
import { GanglionError } from '../../../src/contract/errors.ts'
import type { Neuron } from '../../../src/contract/neurons.ts'
import type { RetrieveAnswer, SearchHit } from '../../../src/contract/search.ts'
import type { Role } from '../../../src/contract/vocabulary.ts'
import type { Services } from '../../../src/http/services.ts'
import { MemoryCounter } from '../../../src/state/rate-counter.ts'

const kbId = '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f'
const commit = '3f786850e387550fdab836ed7e6dc881de23001b'

export const neuron: Neuron = {
  seqId: 'handbook_00000042',
  title: 'VIP escalation policy',
  content: 'Page the lead.\n',
  version: 1,
  createdAt: '2026-01-08T09:12:44Z',
  updatedAt: '2026-01-08T09:12:44Z',
  tags: ['policy'],
  links: [{ type: 'supersedes', target: 'handbook_00000007' }],
  backlinks: [{ seqId: 'handbook_00000011', title: 'Support desk', type: 'cites' }],
  unresolved: [{ target: 'On-call rotation', type: 'cites', reason: 'missing', line: 1 }],
  documentId: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90',
  path: 'neurons/2026/01/vip-escalation-policy.md',
  commit,
  candidateId: '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70',
}

export const chatAnswer: ChatAnswer = {
  answer: 'Page the lead. [handbook_00000042]',
  sessionId: '019b9c9a-7a00-7b1c-8d2e-3f4a5b6c7d8e',
  turnId: '019b9c9a-7a01-7b1c-8d2e-3f4a5b6c7d8e',
  citations: [
    {
      documentId: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90',
      path: neuron.path,
      filename: 'vip-escalation-policy.md',
      seqId: neuron.seqId,
      title: neuron.title,
      url: '/api/v1/neurons/handbook/handbook_00000042',
      commit,
    },
  ],
  answeredBy: 'extract',
}

export const searchHit: SearchHit = {
  id: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90',
  knowledgeBaseId: kbId,
  filename: 'vip-escalation-policy.md',
  title: neuron.title,
  path: neuron.path,
  kind: 'wiki',
  seq: 42,
  seqId: neuron.seqId,
  highlight: 'Page the <mark>lead</mark>.',
  rank: 0.9,
}

export const retrieved: RetrieveAnswer = {
  hitCount: 1,
  totalChars: 14,
  formattedContext: '[handbook_00000042] VIP escalation policy\n\nPage the lead.',
  chunks: [
    {
      documentId: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90',
      seqId: neuron.seqId,
      title: neuron.title,
      neuronPath: '2026/01/vip-escalation-policy',
      content: 'Page the lead.',
      headerBreadcrumb: '',
      rank: 0.9,
    },
  ],
}

export const source: Source = {
  id: '019b9c9b-2f10-7a3c-b1d2-4e5f6a7b8c9d',
  knowledgeBaseId: kbId,
  kind: 'source',
  filename: 'vip.pdf',
  path: '/policies',
  fileType: 'pdf',
  fileSize: 7,
  status: 'success',
  errorMessage: null,
  seq: 1,
  contentHash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  tags: 'policy',
  createdAt: '2026-01-08T09:12:44.000Z',
}
const uploadId = '019b9c9b-3000-7a3c-b1d2-4e5f6a7b8c9d'
const expiresAt = '2026-01-09T09:12:44.000Z'

export type FakeServices = Services & {
  /** What the server handed to `submitCandidate`, in order. */
  submitted: { input: CandidateInput; idempotencyKey: string | undefined }[]
  /** What the server handed to `approveCandidate`, in order. */
  edits: unknown[]
  /** What the server handed to `chat`, in order. */
  asked: ChatQuestion[]
  /** What the server handed to `submitFeedback`, in order. */
  feedback: { kb: string; feedback: FeedbackInput; idempotencyKey: string | undefined }[]
  /** The queries that the server handed to `listNeurons` and to `readGraph`, in order. */
  listings: unknown[]
  graphs: unknown[]
  /** What the server handed to `search`, `searchTenant` and `retrieve`, in order. */
  searches: unknown[]
  /** What came with `uploadSource`, in order. */
  files: { filename: string; bytes: Buffer }[]
  fields: unknown[]
  /** What the server handed to `receiveChunk`, in order. */
  chunks: { range: unknown; bytes: Buffer }[]
}

/** Of use cases that only the console has: its tests use real services. */
async function notFaked(): Promise<never> {
  throw new GanglionError('not_found')
}

/** Services that keep one tenant's candidates in memory; a bearer token is the name of its role. */
export function fakeServices(overrides: Partial<Services> = {}): FakeServices {
  const candidates = new Map<string, CandidateDetail>()
  const find = (id: string): CandidateDetail => {
    const candidate = candidates.get(id)
    if (candidate === undefined) throw new GanglionError('not_found', `Candidate ${id} is not in this tenant.`)
    return candidate
  }
  const requests = new MemoryCounter({ span: 60_000 })
  const fake: FakeServices = {
    submitted: [],
    edits: [],
    asked: [],
    feedback: [],
    listings: [],
    graphs: [],
    searches: [],
    files: [],
    fields: [],
    chunks: [],
    async authenticate(token) {
      const roles: readonly Role[] = ['reader', 'app', 'curator']
      const role = roles.find((role) => role === token)
      return role && { id: `key:${role}`, name: `the ${role}`, tenantId: 'acme', role, connectors: [] }
    },
    openSession: async () => undefined,
    listQueue: notFaked,
    reviewCandidate: notFaked,
    similarNeurons: notFaked,
    nextInQueue: notFaked,
    readOutcome: notFaked,
    proposeReverse: notFaked,
    people: new Proxy({} as Services['people'], { get: () => notFaked }),
    openPage: notFaked,
    openBlankPage: notFaked,
    writePage: notFaked,
    checkPage: notFaked,
    rebasePage: notFaked,
    previewRename: notFaked,
    removePage: notFaked,
    isSubmitted: notFaked,
    complete: notFaked,
    async submitCandidate(caller, input, { idempotencyKey }) {
      fake.submitted.push({ input, idempotencyKey })
      if (input.knowledgeBaseId !== 'handbook') throw new GanglionError('not_found')
      const { kind, title, content, metadata, confidence, impactEstimate } = input
      const candidateId = uuidv7()
      const queueUrl = `/queue/${candidateId}`
      const summary = {
        candidateId,
        kbId,
        kind,
        title,
        status: 'pending',
        connector: 'api',
        confidence,
        queueUrl,
      } as const
      candidates.set(candidateId, {
        ...summary,
        impactEstimate,
        zone: null,
        warnings: [],
        target: null,
        createdAt: new Date().toISOString(),
        createdBy: caller.name,
        content,
        metadata,
        decisions: [],
        before: null,
        after: content,
        diff: `+${content}`,
      })
      return { candidateId, status: 'pending', kbId, queueUrl }
    },
    async approveCandidate(_, candidateId, edit) {
      fake.edits.push(edit)
      const candidate = find(candidateId)
      if (candidate.status === 'dismissed') throw new GanglionError('not_pending')
      candidates.set(candidateId, { ...candidate, status: 'approved', seqId: neuron.seqId, commit })
      return { candidateId, status: 'approved', seqId: neuron.seqId, documentId: neuron.documentId ?? '', commit }
    },
    async dismissCandidate({ name }, candidateId, { reason }) {
      const candidate = find(candidateId)
      if (candidate.status === 'approved') throw new GanglionError('not_pending')
      const decision = { action: 'dismiss', at: new Date().toISOString(), by: name, ...(reason && { reason }) } as const
      candidates.set(candidateId, { ...candidate, status: 'dismissed', decisions: [...candidate.decisions, decision] })
      return { candidateId, status: 'dismissed' }
    },
    async reopenCandidate(_, candidateId) {
      const candidate = find(candidateId)
      if (candidate.status !== 'dismissed') throw new GanglionError('not_dismissed')
      candidates.set(candidateId, { ...candidate, status: 'pending' })
      return { candidateId, status: 'pending' }
    },
    async commentCandidate({ name }, candidateId, { comment }) {
      const candidate = find(candidateId)
      const decision = { action: 'comment', at: new Date().toISOString(), by: name, reason: comment } as const
      candidates.set(candidateId, { ...candidate, decisions: [...candidate.decisions, decision] })
      return { candidateId, status: candidate.status }
    },
    async listCandidates(_, { status, limit }) {
      const all = [...candidates.values()].filter((candidate) => status === undefined || candidate.status === status)
      return { candidates: all.slice(0, limit), nextCursor: all.length > limit ? 'more' : null }
    },
    async getCandidate(_, candidateId) {
      return find(candidateId)
    },
    async readNeuron(_, { kb, seqId, at }) {
      if (kb !== 'handbook' || seqId !== neuron.seqId) throw new GanglionError('not_found')
      return at === undefined ? neuron : { ...neuron, commit: at.padEnd(40, '0') }
    },
    async listKnowledgeBases() {
      return {
        knowledgeBases: [{ id: kbId, slug: 'handbook', title: 'Handbook', language: 'en', prefix: 'handbook' }],
      }
    },
    async listNeurons(_, kb, query) {
      if (kb !== 'handbook') throw new GanglionError('not_found')
      fake.listings.push(query)
      return { neurons: [neuron], nextCursor: null }
    },
    async readGraph(_, kb, query) {
      if (kb !== 'handbook') throw new GanglionError('not_found')
      fake.graphs.push(query)
      return { nodes: [neuron], edges: [], truncated: false }
    },
    async search(_, kb, query) {
      fake.searches.push({ kb, ...query })
      if (kb !== 'handbook') throw new GanglionError('not_found')
      return { documents: [searchHit] }
    },
    async searchTenant(_, query) {
      fake.searches.push(query)
      if (query.kb !== 'handbook') throw new GanglionError('not_found')
      const { knowledgeBaseId: _kb, filename: _filename, seq: _seq, ...hit } = searchHit
      return { hits: [hit], total: 1 }
    },
    async retrieve(_, kb, input) {
      fake.searches.push({ kb, ...input })
      if (kb !== 'handbook') throw new GanglionError('not_found')
      return retrieved
    },
    async llmsText(_, kb) {
      if (kb !== 'handbook') throw new GanglionError('not_found')
      return '# Handbook\n'
    },
    async *chat(_, question) {
      fake.asked.push(question)
      if ((question.knowledgeBaseId ?? 'handbook') !== 'handbook') throw new GanglionError('not_found')
      yield 'Page the lead.'
      yield ' [handbook_00000042]'
      return chatAnswer
    },
    async submitFeedback(_, kb, feedback, { idempotencyKey }) {
      fake.feedback.push({ kb, feedback, idempotencyKey })
      if (kb !== 'handbook') throw new GanglionError('not_found')
      const candidateId = uuidv7()
      return { candidateId, status: 'pending', queueUrl: `/queue/${candidateId}` }
    },
    async hearForge() {
      throw new GanglionError('not_found')
    },
    async openGitDoor() {
      throw new GanglionError('not_found')
    },
    async uploadSource(_, kb, form) {
      if (kb !== 'handbook') throw new GanglionError('not_found')
      const names: string[] = []
      for await (const part of form) {
        names.push(part.name)
        if (part.name !== 'file') fake.fields.push(part)
        else fake.files.push({ filename: part.filename, bytes: await buffer(part.bytes) })
      }
      if (!names.includes('file')) throw new GanglionError('no_file')
      return source
    },
    async beginUpload(_, kb) {
      if (kb !== 'handbook') throw new GanglionError('not_found')
      return { uploadId, chunkSize: 8 * 1024 * 1024, expiresAt }
    },
    async receiveChunk(_, id, range, bytes) {
      if (id !== uploadId) throw new GanglionError('not_found')
      fake.chunks.push({ range, bytes: await buffer(bytes) })
      return { uploadId, bytesReceived: range.last + 1 }
    },
    async finalizeUpload(_, id) {
      if (id !== uploadId) throw new GanglionError('not_found')
      return source
    },
    async readUpload(_, id) {
      if (id !== uploadId) throw new GanglionError('not_found')
      return { uploadId, filename: 'vip.pdf', fileSize: 7, bytesReceived: 0, status: 'open', expiresAt }
    },
    async abandonUpload(_, id) {
      if (id !== uploadId) throw new GanglionError('not_found')
    },
    async listSources(_, kb) {
      if (kb !== 'handbook') throw new GanglionError('not_found')
      return { documents: [source], nextCursor: null }
    },
    async readSource(_, docId) {
      if (docId !== source.id) throw new GanglionError('not_found')
      return { ...source, connector: 'upload', sourceUrl: null, metadata: null, archivedAt: null }
    },
    async readFile(_, kb, path) {
      const type = path === 'neurons/a b/ü.png' ? 'image/png' : 'application/octet-stream'
      if (kb !== 'handbook' || (type !== 'image/png' && path !== 'neurons/x.svg')) throw new GanglionError('not_found')
      const read = async () => Readable.from([Buffer.from('bytes')], { objectMode: false })
      return { filename: path.slice(path.lastIndexOf('/') + 1), etag: commit, type, size: 5, read }
    },
    async sourceContent(_, docId) {
      if (docId !== source.id) throw new GanglionError('not_found')
      const bytes = Buffer.from('%PDF-1\n')
      const read = async (range?: { first: number; last: number }) =>
        Readable.from([bytes.subarray(range?.first, range && range.last + 1)], { objectMode: false })
      return {
        filename: 'Größe "1".pdf',
        etag: source.contentHash,
        type: 'application/octet-stream',
        size: bytes.length,
        read,
      }
    },
    async archiveSource(_, docId) {
      if (docId !== source.id) throw new GanglionError('not_found')
    },
    async ingestDocument(_, docId) {
      if (docId !== source.id) throw new GanglionError('not_found')
      return { ok: true, message: 'The ingest begins.' }
    },
    async readEvents(_, { kb = 'handbook', lastEventId = 0 }) {
      if (kb !== 'handbook') throw new GanglionError('not_found')
      return { after: lastEventId, hasGap: false, events: (async function* () {})() }
    },
    describeKb: notFaked,
    renderMarkdown: notFaked,
    compareLines: notFaked,
    comparePages: notFaked,
    readPage: notFaked,
    readHistory: notFaked,
    readVersions: notFaked,
    readTree: notFaked,
    readTags: notFaked,
    readLooseEnds: notFaked,
    readWholeGraph: notFaked,
    listOpenUploads: notFaked,
    describeShelf: notFaked,
    readSourceText: notFaked,
    readSourceOutcome: notFaked,
    listChats: notFaked,
    readChat: notFaked,
    searchPages: notFaked,
    searchEverywhere: notFaked,
    findNames: notFaked,
    deleteChat: notFaked,
    readChatTurn: notFaked,
    rateAnswer: notFaked,
    citedSources: notFaked,
    readTour: notFaked,
    markTour: notFaked,
    cloneUrl: (tenant, kb) => `/git/${tenant}/${kb}.git`,
    readOverview: notFaked,
    readKbOverview: notFaked,
    readActivity: notFaked,
    listFindings: notFaked,
    proposeFinding: notFaked,
    lintKnowledgeBase: notFaked,
    createApiKey: notFaked,
    listApiKeys: notFaked,
    revokeApiKey: notFaked,
    addWebhook: notFaked,
    listFailingLinks: async () => [],
    listForgeLinks: notFaked,
    listForgeCredentials: notFaked,
    linkForge: notFaked,
    unlinkForge: notFaked,
    listWebhooks: notFaked,
    readWebhook: notFaked,
    removeWebhook: notFaked,
    setWebhookKinds: notFaked,
    pauseWebhook: notFaked,
    replayWebhook: notFaked,
    testWebhook: notFaked,
    resendEvent: notFaked,
    readKbSettings: notFaked,
    previewKbSettings: notFaked,
    changeKbSettings: notFaked,
    readHealth: notFaked,
    startVerification: notFaked,
    isReady: () => true,
    problems: async () => [],
    notes: async () => [],
    nativeGit: async () => '2.39.5',
    countRequest: (rate, callerId) => requests.add(`${rate} ${callerId}`, 1),
    freeDiskRatio: async () => 0.5,
    ...overrides,
  }
  return fake
}

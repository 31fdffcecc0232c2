import { openContext } from '../../src/app/open-context.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { approveCandidate } from '../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { milliseconds } from './measure.ts'
import { generateNotes } from './notes.ts'

/** Opens the one knowledge base of a data directory, approves and reads, and says how long each took: the medians, in milliseconds. */
const approvals = 50
const reads = 1_000

const begin = performance.now()
const ctx = await openContext({ dataDir: process.argv[2] ?? '' })
const [identity] = await ctx.knowledgeBases.list()
if (identity === undefined) throw new Error('there is no knowledge base')
const kb = await ctx.kbs.open(identity)
const opening = performance.now() - begin

const { tenantId, slug } = identity
const curator: Caller = { id: 'key:bench', name: 'Bench', tenantId, role: 'curator', connectors: [] }
const seqIds = kb.projection.read.all`SELECT seq_id FROM neurons LIMIT ${reads}`.map(({ seq_id }) => String(seq_id))
const reading: number[] = []
for (const seqId of seqIds) reading.push(await milliseconds(() => readNeuron(ctx, curator, { kb: slug, seqId })))

const approving: number[] = []
for (const [n, { title, text }] of generateNotes(approvals).entries()) {
  const candidate = { kind: 'external-feed' as const, title: `${title} ${process.pid} ${n}`, content: text }
  const rest = { knowledgeBaseId: slug, metadata: null, confidence: null, impactEstimate: null }
  const { candidateId } = await submitCandidate(ctx, curator, { ...candidate, ...rest })
  approving.push(await milliseconds(() => approveCandidate(ctx, curator, candidateId, {})))
}
await ctx.close()
console.log(JSON.stringify({ opening, approval: median(approving), read: median(reading) }))

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

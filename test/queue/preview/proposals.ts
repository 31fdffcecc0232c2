import { GanglionError, ValidationError } from '../../../src/contract/errors.ts'
import type { KnowledgeBase } from '../../../src/kb/knowledge-base.ts'
import { everySeqId, findNeuron } from '../../../src/kb/projection/neuron-queries.ts'
import { mainRef as main } from '../../../src/kb/refs/kb-refs.ts'
import { openPage } from '../../../src/pages/write/open-page.ts'
import { removePage, writePage } from '../../../src/pages/write/write-page.ts'
import type { PageChanges } from '../../../src/pages/write/written-page.ts'
import { receiverFor } from '../../../src/push/receive-push.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { proposeReverse } from '../../../src/review/propose-reverse.ts'
import { candidateIdFor } from '../../../src/rules/candidates/candidate-id.ts'
import { correction } from '../../kb/support/test-bed.ts'
import { neuronText, seq, type WrittenBed, writtenBed } from '../../kb/support/written-neurons.ts'
import { fc } from '../../support/properties.ts'

/** A change that somebody proposes: of a new page, or of a page that is there, by its number among them. */
export type Proposed =
  | { kind: 'new'; title: string; content: string }
  | { kind: 'change'; number: number; changes: PageChanges; path?: string }
  | { kind: 'remove'; number: number }
  /** Each page takes the place of the next; one of them is changed, too. */
  | { kind: 'turn'; numbers: number[]; content: string }
  | { kind: 'send'; number: number; title: string; content: string }
  | { kind: 'reverse'; number: number }

const pages = 8
const words = ['ticket', 'rota', 'pager', 'lead', 'desk', 'escalate', 'night', 'vip', 'queue', 'storm']
const titles = ['VIP policy', 'On-call rota', 'Night desk', 'Pager', 'Storm plan', 'Lead']

const number = fc.integer({ min: 1, max: pages })
const title = fc.constantFrom(...titles)
const sentence = fc
  .array(fc.constantFrom(...words), { minLength: 2, maxLength: 12 })
  .map((chosen) => `${chosen.join(' ')}.`)
const link = fc.oneof(
  title.map((name) => `See [[${name}]].`),
  number.map((one) => `See [[${seq(one)}]].`),
)
const picture = '![A pager](data:image/png;base64,iVBORw0KGgo=)'
const content = fc
  .array(
    fc.oneof(
      sentence,
      sentence,
      link,
      fc.constant(picture),
      title.map((name) => `## ${name}`),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => `${parts.join('\n\n')}\n`)
const changes: fc.Arbitrary<PageChanges> = fc.oneof(
  fc.record({ content }),
  fc.record({ title }),
  fc.record({ title, content }),
  fc.record({ tags: fc.constantFrom<string[]>(['vip'], ['internal'], []) }),
  fc.record({ audience: fc.constantFrom<string[] | null>(['curator'], ['tool'], null) }),
  fc.record({ aliases: fc.array(title, { maxLength: 1 }) }),
)

export const proposals: fc.Arbitrary<Proposed[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('new'), title, content }),
    fc.record({ kind: fc.constant('new'), title, content }),
    fc.record({ kind: fc.constant('change'), number, changes }),
    fc.record({ kind: fc.constant('change'), number, changes }),
    fc.record({
      kind: fc.constant('change'),
      number,
      changes,
      path: fc.constantFrom('moved/a.md', 'b.md', 'rota/c.md'),
    }),
    fc.record({ kind: fc.constant('remove'), number }),
    fc.record({ kind: fc.constant('turn'), numbers: fc.uniqueArray(number, { minLength: 2, maxLength: 3 }), content }),
    fc.record({ kind: fc.constant('send'), number, title, content }),
    fc.record({ kind: fc.constant('reverse'), number: fc.nat(100) }),
  ) as fc.Arbitrary<Proposed>,
  { minLength: 1, maxLength: 4 },
)

/** A knowledge base of some pages that link to each other. */
export function linkedBed(): Promise<WrittenBed> {
  const files = Array.from({ length: pages }, (_, index): [string, string] => {
    const other = titles[(index + 1) % titles.length]
    const said = words.filter((_word, at) => (at * (index + 3)) % 4 !== 1).join(' ')
    const name = titles[index] ?? `Page ${index}`
    return [
      `p${index}.md`,
      neuronText(index + 1, { title: name }, `${said}.\n\nSee [[${other}]] and [[${seq(index)}]].\n`),
    ]
  })
  return writtenBed(Object.fromEntries(files))
}

/** Puts a change on the queue. @returns its candidates; none where it would change nothing, or nothing that is there */
export async function propose(bed: WrittenBed, proposed: Proposed): Promise<string[]> {
  const { ctx, curator } = bed
  const options = { kb: 'handbook', candidateId: candidateIdFor(bed.kbId), publish: false }
  try {
    if (proposed.kind === 'new') {
      const { title, content } = proposed
      return [(await writePage(ctx, curator, { changes: { title, content } }, options)).candidateId]
    }
    const kb = await ctx.kb(curator.tenantId, 'handbook')
    const there = [...everySeqId(kb.projection.read)]
    const pageOf = (number: number) => there[number % there.length] ?? { seqId: '' }
    if (proposed.kind === 'turn') return await turn(bed, proposed, pageOf)
    if (proposed.kind === 'reverse') {
      const approved = kb.projection.read.all`SELECT id FROM candidates WHERE status = 'approved' ORDER BY id`
      const { id } = approved[proposed.number % approved.length] ?? {}
      return id === undefined ? [] : [await proposeReverse(ctx, curator, String(id))]
    }
    const { seqId } = pageOf(proposed.number)
    if (proposed.kind === 'send') {
      const { title, content } = proposed
      return [(await submitCandidate(ctx, bed.app, correction(seqId, content, { title }))).candidateId]
    }
    const { commit: base } = await openPage(ctx, curator, { kb: 'handbook', seqId, at: undefined })
    if (proposed.kind === 'remove') return [(await removePage(ctx, curator, { seqId, base }, options)).candidateId]
    const { changes, path } = proposed
    const write = { target: { seqId, base }, changes, ...(path !== undefined && { path }) }
    return [(await writePage(ctx, curator, write, options)).candidateId]
  } catch (error) {
    if (!(error instanceof GanglionError || error instanceof ValidationError)) throw error
    return []
  }
}

/** Makes a change by a push. */
async function turn(
  { ctx, curator, native }: WrittenBed,
  { numbers, content }: Proposed & { kind: 'turn' },
  pageOf: (number: number) => { seqId: string },
): Promise<string[]> {
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const paths = [...new Set(numbers.map((number) => findNeuron(kb.projection.read, pageOf(number).seqId)?.path ?? ''))]
  const texts = paths.map((path) => native.read(main, path))
  const files = paths.map((path, at): [string, string] => [path, texts[(at + 1) % texts.length] ?? ''])
  const [[first, text] = ['', '']] = files
  native.commit('refs/heads/turn', new Map([...files, [first, `${text.trimEnd()}\n\n${content}`]]), { parents: [main] })
  const [from, to] = [main, 'refs/heads/turn'].map((ref) => native.git('rev-parse', ref))
  native.git('update-ref', '-d', 'refs/heads/turn')
  const receiver = receiverFor(ctx, kb, { caller: curator, reachedAt: 'http://localhost/' })
  const known = pendingIds(kb)
  await receiver.receive([{ ref: 'refs/for/main', from: from ?? '', to: to ?? '' }], [])
  return [...pendingIds(kb)].filter((id) => !known.has(id))
}

function pendingIds({ projection }: KnowledgeBase): Set<string> {
  return new Set(projection.read.all`SELECT id FROM candidates WHERE status = 'pending'`.map(({ id }) => String(id)))
}

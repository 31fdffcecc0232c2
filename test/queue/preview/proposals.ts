import { GanglionError, ValidationError } from '../../../src/contract/errors.ts'
import { everySeqId } from '../../../src/kb/projection/neuron-queries.ts'
import { openPage } from '../../../src/pages/write/open-page.ts'
import { removePage, writePage } from '../../../src/pages/write/write-page.ts'
import type { PageChanges } from '../../../src/pages/write/written-page.ts'
import { candidateIdFor } from '../../../src/rules/candidates/candidate-id.ts'
import { neuronText, seq, type WrittenBed, writtenBed } from '../../kb/support/written-neurons.ts'
import { fc } from '../../support/properties.ts'

/** A change that somebody proposes: of a new page, or of a page that is there, by its number among them. */
export type Proposed =
  | { kind: 'new'; title: string; content: string }
  | { kind: 'change'; number: number; changes: PageChanges; path?: string }
  | { kind: 'remove'; number: number }

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
const content = fc
  .array(
    fc.oneof(
      sentence,
      sentence,
      link,
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

/** Puts a change on the queue. @returns its candidate; undefined where it would change nothing, or nothing that is there */
export async function propose(bed: WrittenBed, proposed: Proposed): Promise<string | undefined> {
  const { ctx, curator } = bed
  const options = { kb: 'handbook', candidateId: candidateIdFor(bed.kbId), publish: false }
  try {
    if (proposed.kind === 'new') {
      const { title, content } = proposed
      return (await writePage(ctx, curator, { changes: { title, content } }, options)).candidateId
    }
    const kb = await ctx.kb(curator.tenantId, 'handbook')
    const there = [...everySeqId(kb.projection.read)]
    const { seqId = '' } = there[proposed.number % there.length] ?? {}
    const { commit: base } = await openPage(ctx, curator, { kb: 'handbook', seqId, at: undefined })
    if (proposed.kind === 'remove') return (await removePage(ctx, curator, { seqId, base }, options)).candidateId
    const { changes, path } = proposed
    const write = { target: { seqId, base }, changes, ...(path !== undefined && { path }) }
    return (await writePage(ctx, curator, write, options)).candidateId
  } catch (error) {
    if (!(error instanceof GanglionError || error instanceof ValidationError)) throw error
    return undefined
  }
}

import type { OpenContext } from '../../../src/app/open-context.ts'
import { GanglionError } from '../../../src/contract/errors.ts'
import { dismissCandidate, reopenCandidate } from '../../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { fc } from '../../support/properties.ts'
import { type NativeChange, type NativeChanges, NativeWriter } from './native-writer.ts'
import { candidate, correction, type TestBed } from './test-bed.ts'

const main = 'refs/heads/main'
const queue = 'refs/ganglion/queue'

/** Something that happens to a knowledge base. Numbers choose among what is there, so that every sequence means something. */
export type Step = { name: StepName; a: number; b: number; at: number }

type World = { bed: TestBed; ctx: OpenContext; native: NativeWriter; candidates: string[] }

const contents = [
  'Page the lead.\n\nThen write it down.\n',
  'See [[VIP]] and [[supersedes:On call]].\n',
  'Page the deputy.\n\nThen write it down.\n',
  '`[[not a link]]`\n\n[[ünïcode]] [[handbook_00000001]]\n',
  '---\nseqId: handbook_00000001\n---\n',
] as const
const titles = ['VIP', 'On call', 'ÜNÏCODE', 'vip'] as const

function pick<T>(list: readonly T[], index: number): T | undefined {
  return list[index % list.length]
}

const steps = {
  async submit({ bed, ctx, candidates }: World, { a, b }: Step) {
    const made = await submitCandidate(
      ctx,
      bed.app,
      candidate({
        title: pick(titles, a) ?? '',
        content: pick(contents, b) ?? '',
        confidence: pick([null, 0.2, 0.9], a + b) ?? null,
        impactEstimate: pick([null, 0, 3], b) ?? null,
        metadata: pick([null, '{"connector":"crm","tags":["x"]}', '{"actionZone":"red"}'], a) ?? null,
      }),
    )
    candidates.push(made.candidateId)
  },
  async correct({ bed, ctx, candidates }: World, { a, b }: Step) {
    const target = `handbook_0000000${1 + (a % 5)}`
    const input = correction(target, pick(contents, b) ?? '', { confidence: pick([null, 0.9], a) ?? null })
    candidates.push((await submitCandidate(ctx, bed.app, input)).candidateId)
  },
  async approve({ bed, ctx, candidates }: World, { a, b }: Step) {
    const id = pick(candidates, a)
    const edit = pick([{}, {}, { title: 'Retitled' }, { content: 'Rewritten.\n', tags: ['y'] }], b) ?? {}
    if (id !== undefined) await approveCandidate(ctx, bed.curator, id, edit)
  },
  async dismiss({ bed, ctx, candidates }: World, { a }: Step) {
    const id = pick(candidates, a)
    if (id !== undefined) await dismissCandidate(ctx, bed.curator, id, { reason: 'no' })
  },
  async reopen({ bed, ctx, candidates }: World, { a }: Step) {
    const id = pick(candidates, a)
    if (id !== undefined) await reopenCandidate(ctx, bed.curator, id)
  },
  async restart(world: World) {
    world.ctx = await world.bed.reopen()
  },
  async editNatively({ native }: World, { a, b, at }: Step) {
    const path = neuronPath(native, a)
    if (path !== undefined) commit(native, at, [[path, `${native.read(main, path)}\nEdited ${b}, see [[VIP]].\n`]])
  },
  async retitleNatively({ native }: World, { a, at }: Step) {
    const path = neuronPath(native, a)
    if (path === undefined) return
    commit(native, at, [[path, native.read(main, path).replace(/^title: .*$/m, `title: Native ${a}\naliases: [VIP]`)]])
  },
  async renameNatively({ native }: World, { a, b, at }: Step) {
    const path = neuronPath(native, a)
    if (path !== undefined) commit(native, at, [[`neurons/moved/${b % 3}.md`, { renamedFrom: path }]])
  },
  async swapNatively({ native }: World, { a, b, at }: Step) {
    const [one, other] = [neuronPath(native, a), neuronPath(native, b)]
    if (one === undefined || other === undefined || one === other) return
    commit(native, at, [
      [one, native.read(main, other)],
      [other, native.read(main, one)],
    ])
  },
  async deleteNatively({ native }: World, { a, at }: Step) {
    const path = neuronPath(native, a)
    if (path !== undefined) commit(native, at, [[path, null]])
  },
  async moveOutNatively({ native }: World, { a, at }: Step) {
    const path = neuronPath(native, a)
    if (path !== undefined) commit(native, at, [[`attic/${a}.md`, { renamedFrom: path }]])
  },
  async duplicateNatively({ native }: World, { a, b, at }: Step) {
    const path = neuronPath(native, a)
    if (path !== undefined)
      commit(native, at, [[`neurons/${pick(['0', 'copies', 'zz'], b)}/${b}.md`, { copiedFrom: path }]])
  },
  async takeSeqIdNatively({ native }: World, { a, b, at }: Step) {
    const path = neuronPath(native, a)
    if (path === undefined) return
    const text = native
      .read(main, path)
      .replace(/^seqId: .*\n/m, pick(['', `seqId: handbook_0000000${1 + (b % 6)}\n`], b) ?? '')
    commit(native, at, [[path, text]])
  },
  async takeCandidateNatively({ native, candidates }: World, { a, b, at }: Step) {
    const path = neuronPath(native, a)
    if (path === undefined) return
    const text = native.read(main, path).replace(/^candidate: .*$/m, `candidate: ${pick(candidates, b) ?? 'nobody'}`)
    commit(native, at, [[path, text]])
  },
  async addNatively({ native }: World, { a, b, at }: Step) {
    const head = pick(
      ['', '---\ntitle: Loose\n---\n', `---\nseqId: handbook_0000000${1 + (b % 9)}\n---\n`, '---\n: [\n---\n'],
      b,
    )
    commit(native, at, [[`neurons/new/${a}.md`, `${head}\nNew.\n`]])
  },
  async editSettings({ native }: World, { a, at }: Step) {
    const text = native.read(main, 'kb.yaml').replace(/threshold: .*$/m, `threshold: 0.${1 + (a % 9)}`)
    commit(native, at, [['kb.yaml', pick([text, 'policy: [\n', text], a) ?? '']])
  },
  async mergeBranch({ native }: World, { a, b, at }: Step) {
    const fork = olderCommit(native, main, a)
    native.commit(
      'refs/heads/side',
      new Map([[`neurons/side/${b}.md`, `---\nseqId: handbook_0000005${b % 10}\n---\nSide.\n`]]),
      {
        parents: [fork],
        at,
      },
    )
    const merged = new Map([[`neurons/side/${b}.md`, native.read('refs/heads/side', `neurons/side/${b}.md`)]])
    // With main as the second parent, the first-parent line is another one from here on.
    const parents = a % 2 === 0 ? [main, 'refs/heads/side'] : ['refs/heads/side', main]
    native.commit(main, merged, { parents, tree: main, at })
  },
  async rewind({ native }: World, { a }: Step) {
    native.git('update-ref', main, olderCommit(native, main, a))
  },
  async rewindQueue({ native }: World, { a }: Step) {
    if (native.paths(queue).length > 0) native.git('update-ref', queue, olderCommit(native, queue, a))
  },
  async damageQueue({ native }: World, { a, b, at }: Step) {
    const path = pick(native.paths(queue), a)
    if (path === undefined) return
    const text = native.read(queue, path)
    const damages: [string, NativeChanges][] = [
      ['cut', new Map([[path, text.slice(0, 40)]])],
      ['emptied', new Map([[path, '']])],
      ['removed', new Map([[path, null]])],
      ['moved', new Map([['00/00/elsewhere.md', { renamedFrom: path }]])],
      ['copied', new Map([['ff/ff/copy.md', { copiedFrom: path }]])],
      ['foreign', new Map([['README', 'No candidate.\n']])],
      ['floor', new Map([['seq-floor', `${a}\n`]])],
      ['bad floor', new Map([['seq-floor', 'high\n']])],
      ['no floor', new Map([['seq-floor', null]])],
      ['edited', new Map([[path, text.replace(/^kind: .*$/m, 'kind: chat')]])],
    ]
    const [, changes] = pick(damages, b) ?? ['', new Map()]
    native.commit(queue, changes, { at })
  },
} as const

function commit(native: NativeWriter, at: number, changes: readonly [string, NativeChange][]): void {
  native.commit(main, new Map(changes), { at })
}

function neuronPath(native: NativeWriter, index: number): string | undefined {
  return pick(
    native.paths(main, 'neurons/').filter((path) => path.endsWith('.md')),
    index,
  )
}

function olderCommit(native: NativeWriter, ref: string, index: number): string {
  const line = native.git('rev-list', '--first-parent', '--max-count=4', ref).split('\n')
  return pick(line, index) ?? ref
}

type StepName = keyof typeof steps
const names = Object.keys(steps).filter((name): name is StepName => name in steps)

/** After these the index begins anew, and what it made of the steps before is no longer seen. */
const isFresh = (name: StepName) => name === 'rewind' || name === 'rewindQueue'

/** The server's own steps come more often than each of the others, and the clock goes back at times. */
export const history: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    name: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom<StepName[]>('submit', 'approve') },
      { weight: 17, arbitrary: fc.constantFrom(...names.filter((name) => !isFresh(name))) },
      { weight: 1, arbitrary: fc.constantFrom(...names.filter(isFresh)) },
    ),
    a: fc.nat(20),
    b: fc.nat(20),
    at: fc.constantFrom(1_000_000_000, 1_700_000_000, 2_000_000_000),
  }),
  { minLength: 12, maxLength: 24, size: 'max' },
)

/** Lets a history happen; what the rules refuse does not. Gives the server as it is in the end. */
export async function happen(bed: TestBed, story: readonly Step[]): Promise<OpenContext> {
  const world: World = { bed, ctx: bed.ctx, native: new NativeWriter(bed.gitDir), candidates: [] }
  for (const step of story) {
    try {
      await steps[step.name](world, step)
      // Somebody looks at the queue, so that the index follows step by step.
      if (step.a % 3 > 0) await world.ctx.kb(bed.curator.tenantId, 'handbook')
    } catch (error) {
      if (!(error instanceof GanglionError)) throw error
    }
  }
  return world.ctx
}

import { addAnswerTest } from '../../src/answer-tests/add-test.ts'
import { GanglionError, ValidationError } from '../../src/contract/errors.ts'
import { mainRef } from '../../src/kb/refs/kb-refs.ts'
import { PushRefused } from '../../src/kb/writing/pushed-neurons.ts'
import { changeKbSettings, readKbSettings } from '../../src/operate/settings/change-kb-settings.ts'
import { sayStillTrue } from '../../src/pages/write/say-still-true.ts'
import { removePage, writePage } from '../../src/pages/write/write-page.ts'
import { receiverFor } from '../../src/push/receive-push.ts'
import {
  approveCandidate,
  assignCandidate,
  commentCandidate,
  dismissCandidate,
  reopenCandidate,
  requestChanges,
} from '../../src/queue/decide-candidate.ts'
import { candidateHeads } from '../../src/queue/heads/candidate-refs.ts'
import { listQueue } from '../../src/queue/lists/list-queue.ts'
import { approveBundle } from '../../src/queue/push-bundle.ts'
import { reviseCandidate, withdrawCandidate } from '../../src/queue/revise-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { proposeReverse } from '../../src/review/propose-reverse.ts'
import { proposeUndo } from '../../src/review/propose-undo.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { candidateIdFor } from '../../src/rules/candidates/candidate-id.ts'
import { commitSource } from '../../src/sources/ingest/commit-source.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { signIn } from '../support/person.ts'
import { fc } from '../support/properties.ts'

const folders = ['legal', 'guides', 'ops'] as const
const tags = ['contracts', 'news'] as const
const connectors = ['api', 'careful', 'risky'] as const
export const people = ['ann', 'bob', 'cat', 'dan', 'eve'] as const

/** Five people, two of whom also have a key, and two agents of which one was let in by Ann. */
export type Team = {
  bed: TestBed
  curators: Caller[]
  agents: Caller[] /** By id of an actor without its kind. */
  names: Map<string, string>
}

export async function newTeam(): Promise<Team> {
  const bed = await newTestBed()
  const {
    ctx,
    curator: { tenantId },
  } = bed
  const names = new Map<string, string>()
  const curators: Caller[] = []
  for (const name of people) {
    const { userId } = await signIn(ctx, 'acme', 'curator', { email: `${name}@example.com`, name })
    names.set(userId, name)
    curators.push({ id: `user:${userId}`, name, tenantId, role: 'curator', connectors: [] })
  }
  for (const name of ['Legal desk', 'Robot'] as const) {
    const record = { tenantId, name, role: 'curator' as const, connectors: ['lint'], expiresAt: null }
    const { key } = await ctx.apiKeys.create(record, ctx.now())
    names.set(key.id, name)
    curators.push({ id: `key:${key.id}`, name, tenantId, role: 'curator', connectors: ['lint'] })
  }
  curators.push({ id: 'github:bob', name: 'bob on a forge', tenantId, role: 'curator', connectors: [] })
  names.set('bob', 'the account bob')
  const agents: Caller[] = []
  for (const userId of [undefined, curators[0]?.id.slice('user:'.length)]) {
    const grantId = userId === undefined ? undefined : `grant-${userId}`
    const record = {
      tenantId,
      name: 'Legal desk',
      role: 'app' as const,
      connectors: [...connectors, 'lint'],
      expiresAt: null,
      ...{ userId, grantId },
    }
    const { key } = await ctx.apiKeys.create(record, ctx.now())
    names.set(key.id, userId === undefined ? `agent ${key.id}` : (people[0] ?? ''))
    agents.push({ id: `key:${key.id}`, name: 'An agent', tenantId, role: 'app', connectors: record.connectors })
  }
  return { bed, curators, agents, names }
}

/** Puts a policy onto main as whoever may write the repository can. */
export async function setPolicy({ bed }: Team, draw: Draw): Promise<void> {
  const native = new NativeWriter(bed.gitDir)
  const kept = native.read(mainRef, 'kb.yaml').split('# policy of the test')[0] ?? ''
  const some = <Item>(items: readonly Item[]) => items.filter(() => draw.chance(0.4))
  const named = () => some([...people.map((name) => `${name}@example.com`), 'Legal desk', 'Robot'])
  const rules = [...folders, 'kb.yaml', 'files', 'tests', `#${tags[0]}`].flatMap((what) => {
    const owners = named()
    if (draw.chance(0.5) || owners.length === 0) return []
    const place = what.startsWith('#') ? { tags: [what.slice(1)] } : { paths: [what] }
    return [{ ...place, people: owners }]
  })
  const policy = {
    ...{ owners: rules, approvals: { yellow: draw.number(1, 3), red: draw.number(1, 3) } },
    authorMayApprove: draw.chance(0.5),
  }
  const own = kept.replace(
    /^zones:[\s\S]*?\n\n/m,
    'zones:\n  kinds: { ingest-summary: green, ingest-page-update: green }\n  connectors: { careful: yellow, risky: red, git: yellow }\n\n',
  )
  const text = `${own.trimEnd()}\n# policy of the test\n${Object.entries(policy)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join('')}`
  native.commit(mainRef, new Map([['kb.yaml', text]]), { at: Math.floor(Date.now() / 1000) })
  await (await bed.ctx.kb(bed.curator.tenantId, 'handbook')).sync()
}

export class Draw {
  readonly #random: () => number
  constructor(seed: number) {
    const numbers = fc.sample(fc.nat(2 ** 31 - 1), { seed, numRuns: 1 })
    let state = numbers[0] ?? seed
    this.#random = () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
      return (state >>> 8) / 0x7fffff
    }
  }
  number(from: number, to: number): number {
    return from + Math.min(to - from, Math.floor(this.#random() * (to - from + 1)))
  }
  chance(share: number): boolean {
    return this.#random() < share
  }
  one<Item>(items: readonly Item[]): Item {
    const item = items[this.number(0, items.length - 1)]
    if (item === undefined) throw new Error('nothing to draw from')
    return item
  }
}

/** Outcome of an act; undefined if there was nothing to act on. */
type Came = 'done' | 'vote' | 'refused' | undefined
type Act = (team: Team, draw: Draw, step: number) => Promise<Came>

const place = (draw: Draw, step: number) => `${draw.one(folders)}/page-${step}.md`
const somebody = ({ curators }: Team, draw: Draw) => draw.one(curators)

async function opened({ bed }: Team) {
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const pages = kb.projection.read.all`SELECT seq_id, path, blob, title FROM neurons ORDER BY seq_id`
  const queue = await listQueue(bed.ctx, bed.curator, { kb: 'handbook', status: 'pending', bundles: true, limit: 50 })
  const neurons = pages.map((row) => ({ seqId: String(row.seq_id), path: String(row.path), title: String(row.title) }))
  return { kb, neurons, pending: queue.entries }
}

function changedText(text: string, draw: Draw, step: number): string {
  const tagged = draw.chance(0.3)
    ? text.replace(/^(?:tags: .*\n)?candidate:/m, `tags: [${draw.one(tags)}]\ncandidate:`)
    : text
  return `${tagged.trimEnd()}\n\nLine ${step}.\n`
}

async function pushed(team: Team, draw: Draw, step: number, ref: 'main' | 'for', isForge: boolean): Promise<Came> {
  const { bed } = team
  const { kb, neurons, pending } = await opened(team)
  const native = new NativeWriter(bed.gitDir)
  const files = new Map<string, string | null>()
  for (let count = draw.number(1, 3); count > 0; count--) {
    const kind = draw.number(0, 5)
    if (kind === 0 || neurons.length === 0)
      files.set(`neurons/${place(draw, step * 10 + count)}`, `A page ${step}.${count}.\n`)
    else if (kind === 1 && draw.chance(0.5)) files.set('tests/a.yaml', `- question: Line ${step}?\n  refuses: true\n`)
    else if (kind === 1 && ref === 'main') files.set(draw.one(['files/a.txt', 'legal/b.txt']), `${step}`)
    else if (kind === 2 && ref === 'main') {
      const owned = draw.chance(0.5) ? /^title: .*$/m : /^(?:owners|approvals|authorMayApprove): .*$/m
      files.set(
        'kb.yaml',
        native.read(mainRef, 'kb.yaml').replace(owned, owned.source.includes('title') ? `title: Title ${step}` : ''),
      )
    } else {
      const { path } = draw.one(neurons)
      const text = native.read(mainRef, path)
      if (kind === 3) files.set(path, null)
      else files.set(path, changedText(text, draw, step))
    }
  }
  const branch = `refs/heads/test-${step}`
  const entry = draw.chance(0.5) ? pending[ref === 'main' ? 0 : draw.number(0, pending.length - 1)] : undefined
  const head = entry && (await candidateHeads(kb, bed.ctx).headOf(entry.id))
  const parents = head === undefined ? [mainRef] : [mainRef, head]
  // A merge of what waits, as it waits, with something more, or changed; or the next version of it.
  if (head !== undefined) {
    const isMore = draw.chance(0.5)
    const isChanged = draw.chance(ref === 'main' ? 0.3 : 0.9)
    if (!isMore) files.clear()
    for (const line of native.git('diff', '--no-renames', '--name-status', mainRef, head).split('\n')) {
      const [status, path = ''] = line.split('\t')
      const text = status === 'D' ? null : path && native.read(head, path)
      if (path !== '') files.set(path, text && isChanged && path.endsWith('.md') ? changedText(text, draw, step) : text)
    }
  }
  native.commit(branch, files, { parents, at: Math.floor(Date.now() / 1000) })
  const to = native.git('rev-parse', branch)
  native.git('update-ref', '-d', branch)
  const by = isForge ? (team.curators.at(-1) ?? bed.curator) : somebody(team, draw)
  const isSubmit = ref === 'for' ? false : isForge || draw.chance(0.5)
  const options = isSubmit ? ['submit'] : []
  const updates = [
    { ref: ref === 'for' || isSubmit ? 'refs/for/main' : mainRef, from: native.git('rev-parse', mainRef), to },
  ]
  const receiver = receiverFor(bed.ctx, kb, {
    caller: by,
    reachedAt: 'http://localhost/',
    ...(isForge && { follows: 'merge' }),
  })
  const { accepted } = await receiver.judge(updates, undefined, options)
  if (!accepted) return undefined
  const { outcomes } = await receiver.receive(updates, options)
  return outcomes.some(({ refused }) => refused !== undefined) ? 'refused' : 'done'
}

export const acts: Record<string, Act> = {
  submit: async (team, draw, step) => {
    const { neurons } = await opened(team)
    const by = draw.one([...team.agents, ...team.curators.slice(0, 5)])
    const metadata = {
      connector: draw.one(connectors),
      ...(draw.chance(0.3) && { tags: [draw.one(tags)] }),
      path: `neurons/${place(draw, step)}`,
    }
    const confidence = draw.chance(0.4) ? 0.9 : 0.2
    const isNew = neurons.length === 0 || draw.chance(0.4)
    const input = isNew
      ? candidate({ title: `Page ${step}`, content: `About ${step}.`, metadata: JSON.stringify(metadata), confidence })
      : correction(draw.one(neurons).seqId, `Corrected ${step}.`, {
          title: `Page ${step}`,
          confidence,
          metadata: JSON.stringify({ ...metadata, targetNeuron: draw.one(neurons).seqId, path: undefined }),
        })
    const { status } = await submitCandidate(team.bed.ctx, by, input)
    return status === 'approved' ? 'done' : undefined
  },
  approve: async (team, draw, step) => {
    const { pending } = await opened(team)
    if (pending.length === 0) return undefined
    const edit = draw.chance(0.2)
      ? { content: `Edited ${step}.`, ...(draw.chance(0.5) && { tags: [draw.one(tags)] }) }
      : {}
    const { status } = await approveCandidate(team.bed.ctx, somebody(team, draw), draw.one(pending).id, edit)
    return status === 'approved' ? 'done' : 'vote'
  },
  bundle: async (team, draw) => {
    const { pending } = await opened(team)
    const bundles = pending.filter(({ bundle }) => bundle !== undefined)
    if (bundles.length === 0) return undefined
    const { id, bundle } = draw.one(bundles)
    await approveBundle(team.bed.ctx, somebody(team, draw), { candidateId: id, seen: bundle?.seen ?? '' })
    const { kb } = await opened(team)
    return kb.projection.read.get`SELECT 1 FROM candidates WHERE id = ${id} AND status = 'pending'` ? 'vote' : 'done'
  },
  propose: async (team, draw, step) => {
    await pushed(team, draw, step, 'for', false)
    return undefined
  },
  push: (team, draw, step) => pushed(team, draw, step, 'main', false),
  forge: (team, draw, step) => pushed(team, draw, step, 'main', true),
  settings: async (team, draw, step) => {
    const { ctx } = team.bed
    const by = somebody(team, draw)
    const { base, values } = await readKbSettings(ctx, by, 'handbook')
    const owners = draw.chance(0.5) ? values.owners : 'kb.yaml = eve@example.com'
    const changed = { ...values, owners, tone: `Tone ${step}`, 'approvals.red': String(draw.number(1, 2)) }
    await changeKbSettings(ctx, by, 'handbook', { base, values: changed })
    return 'done'
  },
  write: async (team, draw, step) => {
    const { kb, neurons } = await opened(team)
    const target = neurons.length === 0 || draw.chance(0.3) ? undefined : draw.one(neurons)
    const base = team.bed.gitDir && new NativeWriter(team.bed.gitDir).git('rev-parse', mainRef)
    const changes = {
      ...(draw.chance(0.4) || target === undefined ? { title: `Name ${step}` } : {}),
      ...(draw.chance(0.3) && { tags: [draw.one(tags)] }),
      content: `Written ${step}, see [[${neurons[0]?.title ?? 'nothing'}]].`,
    }
    const write = {
      ...(target && { target: { seqId: target.seqId, base } }),
      ...(draw.chance(0.3) && { path: `neurons/${place(draw, step)}` }),
      changes,
    }
    const options = {
      kb: 'handbook',
      candidateId: candidateIdFor(kb.identity.id, { msecs: Date.now() }),
      publish: true,
    }
    const { status } = await writePage(team.bed.ctx, somebody(team, draw), write, options)
    return status === 'approved' ? 'done' : 'vote'
  },
  remove: async (team, draw) => {
    const { kb, neurons } = await opened(team)
    if (neurons.length < 4) return undefined
    const options = {
      kb: 'handbook',
      candidateId: candidateIdFor(kb.identity.id, { msecs: Date.now() }),
      publish: true,
    }
    const base = new NativeWriter(team.bed.gitDir).git('rev-parse', mainRef)
    const { status } = await removePage(
      team.bed.ctx,
      somebody(team, draw),
      { seqId: draw.one(neurons).seqId, base },
      options,
    )
    return status === 'approved' ? 'done' : 'vote'
  },
  reverse: async (team, draw) => {
    const { kb } = await opened(team)
    const approved = kb.projection.read
      .all`SELECT id FROM candidates WHERE status = 'approved' ORDER BY id DESC LIMIT 20`
    if (approved.length === 0) return undefined
    await proposeReverse(team.bed.ctx, somebody(team, draw), String(draw.one(approved).id))
    return undefined
  },
  talk: async (team, draw, step) => {
    const { pending } = await opened(team)
    if (pending.length === 0) return undefined
    const [by, { id }] = [somebody(team, draw), draw.one(pending)]
    const kind = draw.number(0, 3)
    if (kind === 0) await commentCandidate(team.bed.ctx, by, id, { comment: `Comment ${step}` })
    else if (kind === 1)
      await assignCandidate(team.bed.ctx, by, id, {
        assignee: draw.one([...people.map((name) => `${name}@example.com`), null]),
      })
    else await requestChanges(team.bed.ctx, by, id, { reason: `Request ${step}` })
    return undefined
  },
  revise: async (team, draw, step) => {
    const { pending } = await opened(team)
    if (pending.length === 0) return undefined
    const [by, { id }] = [draw.one([...team.agents, ...team.curators]), draw.one(pending)]
    if (draw.chance(0.1)) await withdrawCandidate(team.bed.ctx, by, id)
    else await reviseCandidate(team.bed.ctx, by, id, { content: `Corrected ${step}.`, metadata: null })
    return undefined
  },
  test: async (team, draw, step) => {
    const test = { question: `What of ${step}?`, audience: 'curator', top: 5, refuses: true } as const
    await addAnswerTest(team.bed.ctx, somebody(team, draw), 'handbook', test)
    return 'done'
  },
  true: async (team, draw) => {
    const { neurons } = await opened(team)
    if (neurons.length === 0) return undefined
    const { status } = await sayStillTrue(
      team.bed.ctx,
      somebody(team, draw),
      { kb: 'handbook', seqId: draw.one(neurons).seqId },
      { until: `20${draw.number(30, 60)}-01-01` },
    )
    return status === 'approved' ? 'done' : 'vote'
  },
  undo: async (team, draw) => {
    const since = new Date(Date.now() - 60_000).toISOString()
    await proposeUndo(team.bed.ctx, somebody(team, draw), 'handbook', {
      by: 'connector',
      writer: draw.one([...connectors, 'console']),
      since,
      dryRun: false,
    })
    return undefined
  },
  dismiss: async (team, draw) => {
    const { kb, pending } = await opened(team)
    const gone = kb.projection.read.all`SELECT id FROM candidates WHERE status = 'dismissed' LIMIT 5`
    if (gone.length > 0 && draw.chance(0.6))
      await reopenCandidate(team.bed.ctx, somebody(team, draw), String(draw.one(gone).id))
    else if (pending.length > 0) await dismissCandidate(team.bed.ctx, somebody(team, draw), draw.one(pending).id, {})
    return undefined
  },
  ingest: async (team, draw, step) => {
    const { kb } = await opened(team)
    const id = `019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e${draw.number(10, 14)}`
    const source = {
      id,
      editionOf: id,
      filename: `${draw.one(folders)}.pdf`,
      sha256: 'f'.repeat(64),
      sourceUrl: null,
      isWanted: async () => true,
    }
    const page = {
      kind: 'part' as const,
      key: 'one',
      title: `Part of ${id.slice(-2)}`,
      content: `Text ${step}.`,
      tags: draw.chance(0.4) ? [draw.one(tags)] : [],
      place: {},
    }
    const { created, updated } = await commitSource(team.bed.ctx, kb, source, [page])
    return created + updated > 0 ? 'done' : undefined
  },
  role: async (team, draw) => {
    const {
      ctx,
      curator: { tenantId },
    } = team.bed
    const userId = team.curators[4]?.id.slice('user:'.length) ?? ''
    await ctx.users.setRole(userId, tenantId, draw.chance(0.5) ? 'reader' : 'curator')
    return undefined
  },
}

/** An act that was refused in a way that callers are told of. */
export async function tried(act: () => Promise<Came>): Promise<Came> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof GanglionError) return error.code === 'approval_needed' ? 'refused' : undefined
    if (error instanceof ValidationError || error instanceof PushRefused) return undefined
    throw error
  }
}

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryLoad } from '../src/git/maintenance.ts'
import { buildServer } from '../src/http/server.ts'
import { approveCandidate } from '../src/queue/decide-candidate.ts'
import { candidateHeads } from '../src/queue/heads/candidate-refs.ts'
import { submitCandidate } from '../src/queue/submit-candidate.ts'
import type { Caller } from '../src/rules/access/caller.ts'
import { importNotes } from './support/imported-notes.ts'
import { durableGit, inTurn, milliseconds, show, type Timing, workFolder } from './support/measure.ts'

const neurons = 2_000
const pending = 10_000
const rounds = 15

/** A push and a clone of a knowledge base with as many pending candidates as there may be, against one with none. */
export async function benchPending(): Promise<string[]> {
  const [none, many] = [await openDesk(0), await openDesk(pending)]
  const times = await inTurn(rounds, {
    pathPushNone: () => none.push('path'),
    pathPushMany: () => many.push('path'),
    httpPushNone: () => none.push('http'),
    httpPushMany: () => many.push('http'),
    pathCloneNone: () => none.clone('path'),
    pathCloneMany: () => many.clone('path'),
    httpCloneNone: () => none.clone('http'),
    httpCloneMany: () => many.clone('http'),
    mirrorNone: () => none.clone('path', '--mirror'),
    mirrorMany: () => many.clone('path', '--mirror'),
  })
  const follow = await inTurn(7, { moved: () => many.followMoved(), same: () => many.follow() })
  const before = await repositoryLoad(many.gitDir)
  await many.followMoved()
  const packs = (await repositoryLoad(many.gitDir)).packs - before.packs
  await none.close()
  await many.close()
  const row = (name: string, without: Timing, having: Timing) =>
    `| ${name} | ${show(without)} | ${show(having)} | ${(having.median / without.median).toFixed(2)} |`
  return [
    `| ${neurons} Neurons, milliseconds | none pending | ${pending} pending | ratio |`,
    '|---|---|---|---|',
    row('push by path', times.pathPushNone, times.pathPushMany),
    row('push over HTTP', times.httpPushNone, times.httpPushMany),
    row('clone by path', times.pathCloneNone, times.pathCloneMany),
    row('clone over HTTP', times.httpCloneNone, times.httpCloneMany),
    row('clone --mirror by path, which has the queue', times.mirrorNone, times.mirrorMany),
    '',
    `Heads brought up to date after main moved: ${show(follow.moved)} ms; when nothing had changed: ${show(follow.same)} ms.`,
    `Packs that an approval and the heads after it add: ${packs}.`,
  ]
}

async function openDesk(candidates: number) {
  const { ctx, tenantId, gitDir } = await importNotes(neurons)
  const curator: Caller = { id: 'key:bench', name: 'Bench', tenantId, role: 'curator', connectors: [] }
  const { token } = await ctx.apiKeys.create(
    { tenantId, name: 'Bench', role: 'curator', connectors: [], expiresAt: null },
    new Date(),
  )
  const server = await buildServer(ctx, { rateReads: 100_000, rateWrites: 100_000 })
  const http = (await server.listen({ host: '127.0.0.1', port: 0 })).replace('://', `://any:${token}@`)
  const urls = { path: `file://${gitDir}`, http: `${http}/git/bench/bench.git` }
  const submit = (title: string) =>
    submitCandidate(ctx, curator, {
      knowledgeBaseId: 'bench',
      kind: 'external-feed',
      title,
      content: `Of ${title}.\n`,
      metadata: null,
      confidence: null,
      impactEstimate: null,
    })
  const waiting: string[] = []
  for (let n = 0; n < candidates; n += 250) {
    const receipts = await Promise.all(Array.from({ length: 250 }, (_, at) => submit(`Pending ${n + at}`)))
    waiting.push(...receipts.map(({ candidateId }) => candidateId))
  }
  const kb = await ctx.kb(tenantId, 'bench')
  const heads = candidateHeads(kb, ctx)
  await heads.follow()
  durableGit(gitDir, ['gc', '--quiet']) // the same packs for both
  const folder = workFolder()
  const work = join(folder, 'work')
  await git('.', 'clone', '--quiet', urls.path, work)
  let round = 0
  return {
    gitDir,
    push: async (way: 'path' | 'http') => {
      await git(work, 'pull', '--quiet', '--ff-only', urls.path, 'main')
      writeFileSync(join(work, 'notes.txt'), `${round++}\n`)
      await git(work, 'add', '--all')
      await git(work, 'commit', '--quiet', '-m', `Round ${round}`)
      const time = await milliseconds(() => git(work, 'push', '--quiet', urls[way], 'HEAD:main'))
      await ctx.kb(tenantId, 'bench')
      await heads.follow()
      return time
    },
    clone: async (way: 'path' | 'http', ...options: string[]) => {
      const args = ['clone', '--quiet', '--bare', ...options, urls[way], `clone-${round++}.git`]
      return milliseconds(() => git(folder, ...args))
    },
    follow: () => milliseconds(() => heads.follow()),
    followMoved: async () => {
      await approveCandidate(ctx, curator, waiting.pop() ?? '', {})
      return milliseconds(() => heads.follow())
    },
    close: async () => {
      await server.close()
      await ctx.close()
    },
  }
}

function git(cwd: string, ...args: string[]): Promise<unknown> {
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com']
  return promisify(execFile)('git', [...identity, ...args], { cwd, maxBuffer: 1024 ** 2 })
}

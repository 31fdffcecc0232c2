import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { expect, onTestFinished } from 'vitest'
import { type ContextOptions, openContext } from '../../../../src/app/open-context.ts'
import { audienceClone } from '../../../../src/kb/clone/audience-clone.ts'
import { createKnowledgeBase } from '../../../../src/kb/create-kb.ts'
import { type ErasureStep, finishErasure, prepareErasure } from '../../../../src/operate/erase/erase.ts'
import type { ErasureRequest } from '../../../../src/operate/erase/plan-erasure.ts'
import { verify } from '../../../../src/operate/verify/verify.ts'
import { readHistory, readVersions } from '../../../../src/pages/read-history.ts'
import { readNeuron } from '../../../../src/pages/read-neuron.ts'
import { approveCandidate } from '../../../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../../../src/queue/submit-candidate.ts'
import type { Caller } from '../../../../src/rules/access/caller.ts'
import { search } from '../../../../src/search/kb/search-kb.ts'
import { nativeGit } from '../../../git/support/native-git.ts'
import { tempDir } from '../../../support/temp.ts'
import { threads } from '../../../support/threads.ts'

/** A data directory with all its state, a knowledge base `handbook`, which is made where there is none, and who writes it. */
export async function newHouse(stores: Partial<ContextOptions> = {}) {
  const { dataDir = join(tempDir(), 'data') } = stores
  const options = { ...stores, dataDir, threads }
  const open = () => openContext(options)
  let ctx = await open()
  onTestFinished(() => ctx.close())
  const [known] = await ctx.knowledgeBases.all()
  const { id: kbId } = known ?? (await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' }))
  const gitDir = ctx.directory.repository(kbId)
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const caller = (role: 'app' | 'curator'): Caller => {
    return { id: `key:${role}`, name: `The ${role}`, tenantId, role, connectors: [] }
  }
  const [app, curator] = [caller('app'), caller('curator')]
  const propose = async (input: Parameters<typeof submitCandidate>[2], removes = false) =>
    (await submitCandidate(ctx, app, input, { removes, idempotencyKey: crypto.randomUUID() })).candidateId
  const request = { neurons: [], texts: [], sources: [], people: [], decidedBy: [] }
  return {
    ...{ dataDir, gitDir, kbId, tenantId, app, curator, propose },
    ctx: () => ctx,
    approve: (id: string, edit = {}) => approveCandidate(ctx, curator, id, edit),
    /** The clone of who sees what any app does, and all that its objects say. */
    async cloned() {
      const dir = await audienceClone(ctx, await ctx.kb(tenantId, 'handbook'), 'tool')
      return { dir, said: nativeGit(dir, ['cat-file', '--batch', '--batch-all-objects', '--unordered']) }
    },
    search: (q: string) => search(ctx, curator, 'handbook', { q, kind: 'all', limit: 10 }),
    /** All that is said of a page, in each of its versions. */
    async told(seqId: string) {
      const { versions } = await readHistory(ctx, curator, { kb: 'handbook', seqId, limit: 100 })
      const texts = await Promise.all(
        versions.map(async ({ version, title }) => {
          if (title === null) return null
          const other = version === 1 ? 2 : version - 1
          if (versions.length === 1) return (await readNeuron(ctx, curator, { kb: 'handbook', seqId })).content
          const { before, after } = await readVersions(ctx, curator, {
            kb: 'handbook',
            seqId,
            from: version,
            to: other,
          })
          return (before.version === version ? before : after).text
        }),
      )
      return versions.map(({ commit: _, ...version }, at) => ({ ...version, text: texts[at] }))
    },
    async prepare(changes: Partial<ErasureRequest>, onStep?: (step: ErasureStep) => void) {
      const kb = await ctx.knowledgeBases.find(tenantId, 'handbook')
      if (kb === undefined) throw new Error('There is no knowledge base.')
      return prepareErasure(ctx, kb, { ...request, ...changes }, onStep)
    },
    async finish(onStep?: (step: ErasureStep) => void) {
      await ctx.close()
      const finishing = await openContext({ ...options, finishes: 'erasure' })
      await finishErasure(finishing, onStep).finally(() => finishing.close())
      ctx = await open()
    },
    close: () => ctx.close(),
    reopen: async () => {
      await ctx.close()
      ctx = await open()
    },
    async sound() {
      const { ok, problems, kbs } = await verify(ctx)
      expect([...problems, ...kbs.flatMap((kb) => kb.problems)]).toEqual([])
      expect(ok).toBe(true)
      expect(nativeGit(gitDir, ['fsck', '--strict'])).toBe('')
    },
  }
}

/** The files of a folder, and the objects of a repository, that hold one of these texts. */
export function holders(dataDir: string, gitDir: string, needles: readonly string[]): string[] {
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(dataDir, name)).isFile(),
  )
  const holds = (bytes: Buffer) => needles.some((needle) => bytes.includes(needle))
  const found = files.filter((name) => {
    const bytes = readFileSync(join(dataDir, name))
    const loose = /objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/.test(name)
    return holds(loose ? inflateSync(bytes) : bytes) || needles.some((needle) => name.includes(needle))
  })
  const objects = nativeGit(gitDir, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)'])
  for (const line of objects.split('\n')) {
    const [oid = '', type = ''] = line.split(' ')
    if (holds(Buffer.from(nativeGit(gitDir, ['cat-file', type === 'tree' ? '-p' : type, oid])))) found.push(line)
  }
  return found
}

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { OpenContext } from '../../src/app/open-context.ts'
import { namesOfNeuron } from '../../src/kb/projection/link-queries.ts'
import { readGraph } from '../../src/pages/graph/read-graph.ts'
import { listNeurons } from '../../src/pages/list-neurons.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { linksInFiles } from '../kb/support/link-oracle.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { happen, history, type Step } from '../kb/support/random-history.ts'
import { newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { fc, runs } from '../support/properties.ts'

/** All that the API says of links: by Neuron, whole, and around each Neuron. */
async function linksAsRead(ctx: OpenContext, { curator }: TestBed) {
  const { neurons } = await listNeurons(ctx, curator, 'handbook', { limit: 100 })
  const byNeuron = new Map()
  const around = new Map()
  for (const { seqId } of neurons) {
    const { links, backlinks, unresolved } = await readNeuron(ctx, curator, { kb: 'handbook', seqId })
    byNeuron.set(seqId, { links, backlinks, unresolved })
    around.set(seqId, await readGraph(ctx, curator, 'handbook', { around: seqId, depth: 2, limit: 3 }))
  }
  const whole = await readGraph(ctx, curator, 'handbook', { depth: 1, limit: 1000 })
  return { holders: new Map(neurons.map(({ seqId, path }) => [seqId, path])), byNeuron, around, whole }
}

/** Steps that make an edge, so that there is always one to follow. */
const linked: Step[] = [
  { name: 'submit', a: 0, b: 0, at: 0 },
  { name: 'approve', a: 0, b: 0, at: 0 },
  { name: 'submit', a: 1, b: 1, at: 0 },
  { name: 'approve', a: 1, b: 0, at: 0 },
]

test('whatever happens to a knowledge base, its links are those of its files, and of a rebuild', async () => {
  let edges = 0
  await fc.assert(
    fc.asyncProperty(history, async (story) => {
      const bed = await newTestBed()
      await (await happen(bed, story)).close()
      // An opening finishes what the policy approved and main has lost, which is news, not following.
      const ctx = await bed.reopen()
      const followed = await linksAsRead(ctx, bed)
      const { read: sql } = (await ctx.kb(bed.curator.tenantId, 'handbook')).projection
      const claims = new Map([...followed.holders.keys()].map((seqId) => [seqId, namesOfNeuron(sql, seqId)]))
      const inFiles = linksInFiles(new NativeWriter(bed.gitDir), followed.holders, claims)
      expect(followed.byNeuron).toEqual(inFiles.byNeuron)
      expect(followed.whole.edges).toEqual(inFiles.edges)
      edges += inFiles.edges.length

      await ctx.close()
      rmSync(join(bed.dataDir, 'index'), { recursive: true })
      const rebuilt = await bed.reopen()
      expect(await linksAsRead(rebuilt, bed)).toEqual(followed)
      await rebuilt.close()
    }),
    { numRuns: runs(8, 3), examples: [[linked]], endOnFailure: true },
  )
  expect(edges).toBeGreaterThan(0)
})

import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import type { Caller } from '../../../src/rules/access/caller.ts'
import { s3Server } from '../../state/s3-server.ts'
import { newDatabase } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'

/** Nodes in this process that share a database and an emulated S3, with the tenant `acme` and its knowledge base `handbook`. */
export async function newNodes() {
  const database = await newDatabase()
  const s3 = await s3Server()
  const clock = { now: new Date() }
  const node = async () => {
    const options = { dataDir: join(tempDir(), 'data'), database, objects: s3.options, threads, now: () => clock.now }
    const ctx = await openContext(options)
    onTestFinished(() => ctx.close())
    return ctx
  }
  const [one, two] = [await node(), await node()]
  const { id: kbId } = await createKnowledgeBase(one, { tenant: 'acme', slug: 'handbook' })
  const tenantId = (await one.tenants.find('acme'))?.id ?? ''
  const caller: Caller = { id: 'key:curator', name: 'Curator', tenantId, role: 'curator', connectors: [] }
  /** The keys of the store below a folder. */
  const kept = (folder: string) =>
    [...s3.objects.keys()].flatMap((key) => key.split(`${s3.options.prefix}${folder}/`)[1] ?? [])
  return { one, two, node, clock, s3, kbId, caller, kept }
}

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createKnowledgeBase, operator } from '../../src/services/create-kb.ts'
import { Ganglion } from '../../src/services/ganglion.ts'
import { importDirectory } from '../../src/services/import/import-directory.ts'
import { milliseconds, workFolder } from './measure.ts'
import { generateNotes } from './notes.ts'

/** A data directory whose knowledge base `bench`, of the tenant `bench`, holds generated notes; and how long their import took. */
export async function importNotes(count: number) {
  const dir = workFolder()
  const dataDir = join(dir, 'data')
  const vault = join(dir, 'vault')
  for (const { path, text } of generateNotes(count)) {
    mkdirSync(dirname(join(vault, path)), { recursive: true })
    writeFileSync(join(vault, path), text)
  }
  const ganglion = await Ganglion.open({ dataDir })
  const { id, gitDir } = await createKnowledgeBase(ganglion, { tenant: 'bench', slug: 'bench' })
  const tenantId = (await ganglion.tenants.find('bench'))?.id ?? ''
  const kb = await ganglion.kb(tenantId, 'bench')
  const importing = await milliseconds(() => importDirectory(kb, vault, { actor: operator, now: ganglion.now }))
  return { ganglion, dataDir, tenantId, kbId: id, gitDir, importing }
}

import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openContext } from '../../src/app/open-context.ts'
import { createKnowledgeBase, operator } from '../../src/kb/create-kb.ts'
import { importDirectory } from '../../src/operate/import/import-directory.ts'
import { milliseconds, workFolder } from './measure.ts'
import { type GeneratedNote, generateNotes } from './notes.ts'

type Imported = { dataDir: string; tenantId: string; kbId: string; importing: number }

/** Imports by number of notes. Each is copied, never opened. */
const templates = new Map<number, Promise<Imported>>()

/** A data directory whose knowledge base `bench`, of the tenant `bench`, holds generated notes; and how long their import took. */
export async function importNotes(count: number) {
  const making = templates.get(count) ?? importAnew(count)
  templates.set(count, making)
  const template = await making
  const dataDir = join(workFolder(), 'data')
  cpSync(template.dataDir, dataDir, { recursive: true, preserveTimestamps: true })
  const ctx = await openContext({ dataDir })
  const gitDir = ctx.directory.repository(template.kbId)
  await ctx.kb(template.tenantId, 'bench')
  return { ...template, ctx, dataDir, gitDir }
}

/** @returns a folder that holds the notes */
export function writeNotes(notes: readonly GeneratedNote[]): string {
  const vault = workFolder()
  for (const { path, text } of notes) {
    mkdirSync(dirname(join(vault, path)), { recursive: true })
    writeFileSync(join(vault, path), text)
  }
  return vault
}

/** Writes generated notes into a folder, and imports it into a new data directory. */
export async function importAnew(count: number): Promise<Imported> {
  const dataDir = join(workFolder(), 'data')
  const vault = writeNotes(generateNotes(count))
  const ctx = await openContext({ dataDir })
  const { id } = await createKnowledgeBase(ctx, { tenant: 'bench', slug: 'bench' })
  const tenantId = (await ctx.tenants.find('bench'))?.id ?? ''
  const kb = await ctx.kb(tenantId, 'bench')
  const importing = await milliseconds(() =>
    importDirectory(kb, vault, { actor: operator, now: ctx.now, isAlone: true }),
  )
  await ctx.close()
  return { dataDir, tenantId, kbId: id, importing }
}

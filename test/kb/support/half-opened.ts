import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished } from 'vitest'
import { KnowledgeBase } from '../../../src/kb/knowledge-base.ts'
import { projectionFile } from '../../../src/kb/projection/projection.ts'
import { ParserPool } from '../../../src/markdown/pool/parser-pool.ts'
import { threads } from '../../support/threads.ts'
import type { TestBed } from './test-bed.ts'

/** Leaves the state of a crash between the two steps of a first opening. @returns the file of the projection */
export async function followMainOnly({
  ctx,
  kbId,
  gitDir,
  dataDir,
}: Pick<TestBed, 'ctx' | 'kbId' | 'gitDir' | 'dataDir'>): Promise<string> {
  const [identity] = await ctx.knowledgeBases.list()
  if (identity === undefined) throw new Error('there is no knowledge base')
  await ctx.close()
  const indexDir = join(dataDir, 'index', kbId)
  rmSync(indexDir, { recursive: true })
  const kb = new KnowledgeBase(identity, { gitDir, indexDir, parser: threads.of(ParserPool) })
  await kb.prepare()
  expect(kb.heads()).toEqual({ main: expect.any(String), queue: undefined, revision: expect.any(Number) })
  await kb.close()
  return join(indexDir, projectionFile)
}

/** Keeps everybody from following, as a process does that writes to the same projection. */
export function holdUp(file: string): { letGo: () => void } {
  const db = new DatabaseSync(file)
  db.exec('BEGIN IMMEDIATE')
  onTestFinished(() => db.close())
  return { letGo: () => db.exec('ROLLBACK') }
}

import { onTestFinished } from 'vitest'
import type { Database } from '../../../src/state/database/database.ts'
import { openDatabase } from '../../../src/state/database/open-database.ts'
import { KnowledgeBases } from '../../../src/state/kb-store.ts'
import { Tenants } from '../../../src/state/tenants.ts'
import { newDatabase } from '../../support/new-database.ts'
import { type PostgresOptions, PostgresServer } from '../../support/postgres.ts'

/** The same database, opened by several nodes. */
export async function nodes(count: number): Promise<[Database, ...Database[]]> {
  const address = await newDatabase()
  const [first, ...rest] = await Promise.all(Array.from({ length: count }, () => openedNode(address)))
  if (first === undefined) throw new Error('There is no node.')
  return [first, ...rest]
}

export async function openedNode(address: string): Promise<Database> {
  const database = await openDatabase(address)
  onTestFinished(() => database.close())
  return database
}

/** A server of the running test's own, which it may stop. */
export async function ownServer(options: PostgresOptions = {}): Promise<PostgresServer> {
  const server = await PostgresServer.start(options)
  onTestFinished(() => server.remove())
  await server.run('create database ganglion')
  return server
}

/** The tenant `acme`, and a knowledge base `kb` of it. */
export async function withKb({ db }: Database): Promise<string> {
  const { id: tenantId } = await new Tenants(db).ensure('acme', new Date())
  await new KnowledgeBases(db).create({ id: 'kb', tenantId, slug: 'kb', prefix: 'kb' }, new Date())
  return tenantId
}

/** 0 to `count`. */
export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Client } from 'pg'
import { inject, onTestFinished } from 'vitest'
import { tempDir } from './temp.ts'

/**
 * The address of a new database of the running test's own, removed after it. `npm test` runs on SQLite: a file. With `npm run
 * test:cluster` the same tests run on PostgreSQL: a copy of the migrated template.
 */
export async function newDatabase(): Promise<string> {
  const template = inject('postgres')
  if (template === undefined) return join(tempDir(), 'ganglion.db')
  const url = new URL(template)
  const templateName = url.pathname.slice(1)
  const name = `test_${randomBytes(8).toString('hex')}`
  await runOn(template, `create database ${name} template ${templateName}`)
  onTestFinished(() => runOn(template, `drop database ${name} with (force)`))
  url.pathname = `/${name}`
  return url.href
}

/** For what is opened on the engine that the tests run on: where a new database is, unless it is in the data directory. */
export async function newState(): Promise<{ database?: string }> {
  return inject('postgres') === undefined ? {} : { database: await newDatabase() }
}

/** Runs a statement in the server's own database: a template must not be in use. */
async function runOn(template: string, sql: string): Promise<void> {
  const url = new URL(template)
  url.pathname = '/postgres'
  const client = new Client(url.href)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

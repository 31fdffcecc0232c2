import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Client } from 'pg'
import { inject, onTestFinished } from 'vitest'
import type { ContextOptions } from '../../src/app/open-context.ts'
import { s3Server } from '../state/s3-server.ts'
import { tempDir } from './temp.ts'

type State = Pick<ContextOptions, 'database' | 'objects'>

/** The next database of this worker, which is made while the test before it runs. */
let next: Promise<string> | undefined

/**
 * The address of a new database of the running test's own, removed after it. `npm test` runs on SQLite: a file. With `npm run
 * test:cluster` the same tests run on PostgreSQL: a copy of the migrated template.
 */
export async function newDatabase(): Promise<string> {
  const template = inject('postgres')
  if (template === undefined) return join(tempDir(), 'ganglion.db')
  const name = await (next ?? copyOf(template))
  next = copyOf(template)
  next.catch(() => {}) // the test that takes it fails
  onTestFinished(() => runOn(template, `drop database ${name} with (force)`))
  const url = new URL(template)
  url.pathname = `/${name}`
  return url.href
}

/**
 * The state of a new server, for the kind of server that the tests run on. `npm test`: all of it is in the data directory. `npm run
 * test:cluster`: a node of a cluster, with a PostgreSQL database and an S3 bucket that speaks in this process.
 */
export async function newState(): Promise<State> {
  if (inject('postgres') === undefined) return {}
  const [database, { options }] = [await newDatabase(), await s3Server()]
  return { database, objects: { ...options, prefix: 'ganglion/' } }
}

/** The same as the environment of a process. */
export async function newEnvironment(): Promise<Record<string, string>> {
  return environmentOf(await newState())
}

export function environmentOf({ database, objects }: State): Record<string, string> {
  if (database === undefined || objects === undefined) return {}
  const { bucket, prefix, region, endpoint, accessKeyId, secretAccessKey } = objects
  return {
    GANGLION_DATABASE: database,
    GANGLION_OBJECTS: `s3://${bucket}/${prefix}?region=${region}&endpoint=${endpoint}`,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  }
}

/** Makes a copy of the template; gives its name. */
async function copyOf(template: string): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await runOn(template, `create database ${name} template ${new URL(template).pathname.slice(1)} strategy file_copy`)
  return name
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

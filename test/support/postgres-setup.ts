import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/state/database/open-database.ts'
import { PostgresServer } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of a migrated database, of which the tests make copies. Absent: the tests run on SQLite. */
    postgres?: string
  }
}

const template = 'ganglion_template'

/** Runs before all tests: starts a PostgreSQL for them, and ends it after them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Keeps temporary files where the workers do.
  Object.assign(process.env, project.config.env)
  const server = await PostgresServer.start()
  await server.run(`create database ${template}`)
  const address = server.address(template)
  await (await openDatabase(address)).close()
  project.provide('postgres', address)
  return () => server.remove()
}

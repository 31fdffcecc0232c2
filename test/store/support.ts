import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { tempDir } from '../support/temp.ts'

/** A database of the running test's own, closed after it. */
export async function testDatabase(file = join(tempDir(), 'ganglion.db')): Promise<Database> {
  const database = await openDatabase(file)
  onTestFinished(() => database.close())
  return database
}

/** `at('10:00')` on one fixed day, UTC. */
export function at(time: string): Date {
  return new Date(`2026-03-01T${time}Z`)
}

import { onTestFinished } from 'vitest'
import type { Database } from '../../src/state/database/database.ts'
import { openDatabase } from '../../src/state/database/open-database.ts'
import { newDatabase } from '../support/new-database.ts'

/** A database of the running test's own, closed after it: on the engine that the tests run on. */
export async function testDatabase(address?: string): Promise<Database> {
  const database = await openDatabase(address ?? (await newDatabase()))
  onTestFinished(() => database.close())
  return database
}

/** `at('10:00')` on one fixed day, UTC. */
export function at(time: string): Date {
  return new Date(`2026-03-01T${time}Z`)
}

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GanglionError } from '../contract/errors.ts'
import { isUnstorable } from './failure.ts'
import { Projection, projectionFile } from './projection/projection.ts'

const inMemory = '/dev/shm'

/**
 * Opens the projection of a knowledge base. SQLite writes to open a file: where the disk is full or may not be written, a copy in memory is
 * opened instead until it is closed, so that reads go on.
 * @throws {GanglionError} `unavailable` if no copy can be made either
 */
export function openProjection(indexDir: string): Projection {
  try {
    mkdirSync(indexDir, { recursive: true })
    return new Projection(join(indexDir, projectionFile))
  } catch (error) {
    if (!isUnstorable(error)) throw error
    return openCopy(indexDir, error)
  }
}

function openCopy(indexDir: string, cause: unknown): Projection {
  let dir: string | undefined
  const remove = () => dir !== undefined && rmSync(dir, { recursive: true, force: true })
  try {
    dir = mkdtempSync(join(existsSync(inMemory) ? inMemory : tmpdir(), 'ganglion-projection-'))
    for (const name of [projectionFile, `${projectionFile}-wal`])
      if (existsSync(join(indexDir, name))) copyFileSync(join(indexDir, name), join(dir, name))
    return new Projection(join(dir, projectionFile), remove)
  } catch {
    remove()
    const message =
      'The knowledge base cannot be opened, since the disk of the server is full or cannot be written. Those that are open can be read.'
    throw Object.assign(new GanglionError('unavailable', message), { cause })
  }
}

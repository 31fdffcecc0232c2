import { readFileSync } from 'node:fs'
import { hasCode } from './error-code.ts'

/** The text of a small file, read at once; undefined where there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

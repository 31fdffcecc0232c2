import { readFileSync } from 'node:fs'
import { hasCode } from './error-code.ts'

/** Returns the text of a small file, read synchronously; undefined if it does not exist. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

import { randomBytes } from 'node:crypto'
import { hasCode } from '../system/error-code.ts'

const session = randomBytes(6).toString('hex')

/**
 * What a file that this process holds is named for, `<pid>.<session>`, so that others can tell when its holder is gone. The
 * session tells a process from one before it that had the same id, as every start of a container may.
 */
export const holder = `${process.pid}.${session}`

export function isHolderGone(name: string): boolean {
  const [pid = '', itsSession] = name.split('.')
  if (Number(pid) === process.pid) return itsSession !== session
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return !hasCode(error, 'EPERM')
  }
}

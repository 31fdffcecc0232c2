import { randomBytes } from 'node:crypto'
import { hasCode } from '../system/error-code.ts'

const session = randomBytes(6).toString('hex')

/**
 * Token of this process, `<pid>.<session>`, in the names of files that it owns, from which other processes can tell whether it is
 * still running. The session distinguishes it from an earlier process with the same id: each start of a container may reuse ids.
 */
export const processToken = `${process.pid}.${session}`

/** True if the process of a token has ended. @param token `<pid>.<session>`, with or without a suffix after a dot */
export function isProcessGone(token: string): boolean {
  const [pid = '', itsSession] = token.split('.')
  if (Number(pid) === process.pid) return itsSession !== session
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return !hasCode(error, 'EPERM')
  }
}

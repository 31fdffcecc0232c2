import { randomBytes } from 'node:crypto'
import { hasCode } from '../system/error-code.ts'

const session = randomBytes(6).toString('hex')

/**
 * Token of this process, `<pid>.<session>`, in the names of the files that it holds, so that other processes can tell whether the
 * holder still runs. The session tells a process from an earlier one with the same id: each start of a container may reuse ids.
 */
export const processToken = `${process.pid}.${session}`

/** @param token `<pid>.<session>`, with or without an ending after a dot */
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

import { encodePacket } from '../../git/serve/pkt-line.ts'
import { readPushHead, rejectPush } from '../../git/serve/push-head.ts'

/** Returns the answer to a rejected fetch in git's protocol: clients show the reason and stop. See gitprotocol-pack(5), error-line. */
export function refusedFetch(reason: string): Buffer {
  return encodePacket(`ERR ${reason}`)
}

/**
 * Returns the answer to a rejected push in git's protocol: clients show the reason at each ref. Reads the whole request, since a client
 * reads the answer only after it has sent everything.
 * @throws {GitError} `bad-request`; errors of reading the request
 */
export async function refusedPush(request: AsyncIterable<Buffer>, reason: string): Promise<Buffer> {
  const rest = request[Symbol.asyncIterator]()
  const head = await readPushHead(rest)
  while ((await rest.next()).done !== true);
  return rejectPush(head, reason)
}

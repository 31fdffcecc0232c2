import { encodePacket } from '../../git/serve/pkt-line.ts'
import { readPushHead, rejectPush } from '../../git/serve/push-head.ts'

/** The answer to a fetch that is rejected, in git's protocol: clients show the reason and end. See gitprotocol-pack(5), error-line. */
export function refusedFetch(reason: string): Buffer {
  return encodePacket(`ERR ${reason}`)
}

/**
 * The answer to a push that is rejected, in git's protocol: clients show the reason at each ref. It reads the whole request,
 * since a client hears the answer once it has sent everything.
 * @throws {GitError} `bad-request`; what reading the request threw
 */
export async function refusedPush(request: AsyncIterable<Buffer>, reason: string): Promise<Buffer> {
  const rest = request[Symbol.asyncIterator]()
  const head = await readPushHead(rest)
  while ((await rest.next()).done !== true);
  return rejectPush(head, reason)
}

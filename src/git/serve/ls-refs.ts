import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listRefs } from '../refs/refs.ts'
import {
  decodePacket,
  encodePacket,
  flushPacket,
  type Packet,
  PktLineError,
  packetText,
  startingWith,
} from './pkt-line.ts'

/** A request for refs is far smaller; one that is not is served without a look at it. */
const maxPeek = 64 * 1024

/** A request of protocol v2 for refs (gitprotocol-v2(5)). */
export type LsRefs = {
  /** Beginnings of the names that are asked for; none: all refs, or too many to tell. */
  refPrefixes: readonly string[]
  /** All other lines, those in front of the arguments included. */
  others: readonly string[]
}

/**
 * Looks at how a request of protocol v2 to `upload-pack` begins.
 * @returns what an `ls-refs` asks for; nothing for any other request, also one that git will refuse. `body` is the whole request.
 */
export async function peekLsRefs(
  request: AsyncIterable<Buffer>,
): Promise<{ lsRefs: LsRefs | undefined; body: AsyncIterable<Buffer> }> {
  const rest = request[Symbol.asyncIterator]()
  let seen = Buffer.alloc(0)
  let ended = false
  let lsRefs: LsRefs | 'incomplete' | undefined = 'incomplete'
  while (lsRefs === 'incomplete' && !ended) {
    const next = await rest.next()
    if (next.done === true) ended = true
    else seen = Buffer.concat([seen, next.value])
    lsRefs = parseLsRefs(seen)
  }
  return { lsRefs: lsRefs === 'incomplete' ? undefined : lsRefs, body: startingWith(seen, rest) }
}

const understood = /^(?:agent=.*|session-id=.*|object-format=sha1|peel|symrefs|unborn)$/s
const answerable = /^(?:HEAD$|refs\/heads\/|refs\/tags\/)/

/**
 * Returns the response of git if it takes no more than to read the branches: as when somebody clones or fetches, and there are
 * no tags. Nothing where git itself must be asked.
 * @param broken refs that are left out
 */
export async function answerLsRefs(
  gitDir: string,
  { refPrefixes, others }: LsRefs,
  broken: readonly string[] = [],
): Promise<Buffer | undefined> {
  const isOrdinary = refPrefixes.length > 0 && refPrefixes.every((prefix) => answerable.test(prefix))
  if (!isOrdinary || !others.every((line) => understood.test(line))) return undefined
  const head = await readFile(join(gitDir, 'HEAD'), 'utf8')
  const [, target = ''] = /^ref: (refs\/heads\/[^\n]+)\n$/.exec(head) ?? []
  const branches = await listRefs(gitDir, 'refs/heads')
  for (const ref of broken) branches.delete(ref)
  const headOid = branches.get(target)
  if (headOid === undefined || (await listRefs(gitDir, 'refs/tags')).size > 0) return undefined
  const symref = others.includes('symrefs') ? ` symref-target:${target}` : ''
  const refs = [['HEAD', headOid, symref] as const, ...[...branches].map(([name, oid]) => [name, oid, ''] as const)]
  const lines = refs
    .filter(([name]) => refPrefixes.some((prefix) => name.startsWith(prefix)))
    .map(([name, oid, attribute]) => encodePacket(`${oid} ${name}${attribute}\n`))
  return Buffer.concat([...lines, flushPacket])
}

function parseLsRefs(bytes: Buffer): LsRefs | 'incomplete' | undefined {
  const refPrefixes: string[] = []
  const others: string[] = []
  const all = { refPrefixes: [], others: [] }
  try {
    const first = decodePacket(bytes)
    if (first === undefined) return 'incomplete'
    if (textOf(first.packet) !== 'command=ls-refs') return undefined
    for (let at = first.end; at <= maxPeek; ) {
      const next = decodePacket(bytes, at)
      if (next === undefined) return bytes.length > maxPeek ? all : 'incomplete'
      if (next.packet.kind === 'flush') return { refPrefixes, others }
      const text = textOf(next.packet)
      const prefix = /^ref-prefix (.*)$/s.exec(text ?? '')?.[1]
      if (prefix !== undefined) refPrefixes.push(prefix)
      else if (text !== undefined) others.push(text)
      at = next.end
    }
    return all
  } catch (error) {
    if (error instanceof PktLineError) return undefined
    throw error
  }
}

function textOf(packet: Packet): string | undefined {
  return packet.kind === 'line' ? packetText(packet.payload) : undefined
}

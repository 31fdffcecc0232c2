import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { listRefs } from '../refs/refs.ts'
import { encodePacket, flushPacket, PacketReader, PktLineError, packetText, startingWith } from './pkt-line.ts'

/** Maximum bytes of a request that is inspected. Requests for refs are far smaller; larger ones go to git directly. */
const maxPeek = 64 * 1024

/** Request of protocol v2 for refs (gitprotocol-v2(5)). */
export type LsRefs = {
  /** Requested prefixes of names; none: all refs, or too many prefixes to list. */
  refPrefixes: readonly string[]
  /** All other lines of the request, including those before the arguments. */
  others: readonly string[]
}

/**
 * Reads the beginning of a request of protocol v2 to `upload-pack`.
 * @returns the arguments of an `ls-refs`; undefined for any other request, and for one that git will reject. `body`: the whole request
 */
export async function peekLsRefs(
  request: AsyncIterable<Buffer>,
): Promise<{ lsRefs: LsRefs | undefined; body: AsyncIterable<Buffer> }> {
  const stream = request[Symbol.asyncIterator]()
  const packets = new PacketReader(stream, maxPeek)
  const lsRefs = await readLsRefs(packets)
  return { lsRefs, body: startingWith(packets.received, stream) }
}

async function readLsRefs(packets: PacketReader): Promise<LsRefs | undefined> {
  const lines: string[] = []
  const isLsRefs = () => lines[0] === 'command=ls-refs'
  try {
    for (let packet = await packets.next(); packet?.kind !== 'flush'; packet = await packets.next()) {
      if (packet?.kind === 'line') lines.push(packetText(packet.payload))
      if (packet === undefined || !isLsRefs()) return undefined
    }
  } catch (error) {
    if (!(error instanceof PktLineError)) throw error
    return packets.isFull && isLsRefs() ? { refPrefixes: [], others: [] } : undefined
  }
  if (!isLsRefs()) return undefined
  const [refPrefixes, others]: [string[], string[]] = [[], []]
  for (const line of lines.slice(1)) {
    const [, prefix] = /^ref-prefix (.*)$/s.exec(line) ?? []
    if (prefix === undefined) others.push(line)
    else refPrefixes.push(prefix)
  }
  return { refPrefixes, others }
}

const understood = /^(?:agent=.*|session-id=.*|object-format=sha1|peel|symrefs|unborn)$/s
const answerable = /^(?:HEAD$|refs\/heads\/|refs\/tags\/)/

/**
 * Returns git's response if reading the branches is enough for it, as for a clone or fetch without tags. Undefined if git
 * itself must respond.
 * @param broken refs to leave out
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

/** Maximum cached advertisements, one for each repository and version of the protocol. */
const maxKept = 1_000
/** Maximum bytes of an advertisement. Git's has some hundred. */
const maxAdvertisement = 4096
/** Milliseconds until an advertisement is read again, since git may be upgraded. */
const keptForMs = 10 * 60_000

type Kept = { config: string; bytes: Buffer }

/**
 * Cached capabilities of `upload-pack` in version 2 of the protocol (gitprotocol-v2(5)). They depend on git and on the
 * repository's configuration, not on its refs, so most clones and fetches need no git process for them.
 */
export class Advertisements {
  readonly #kept = new LRUCache<string, Kept>({ max: maxKept, ttl: keptForMs })

  find(gitDir: string, protocol: string): Buffer | undefined {
    const kept = this.#kept.get(`${gitDir} ${protocol}`)
    return kept !== undefined && kept.config === stampOf(gitDir) ? kept.bytes : undefined
  }

  /** Passes on git's output, and caches it if it is complete. */
  async *keep(gitDir: string, protocol: string, output: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const config = stampOf(gitDir)
    const pieces: Buffer[] = []
    for await (const piece of output) {
      pieces.push(piece)
      yield piece
    }
    const bytes = Buffer.concat(pieces)
    if (bytes.length <= maxAdvertisement) this.#kept.set(`${gitDir} ${protocol}`, { config, bytes })
  }
}

/** Returns a text that changes whenever the configuration is written. */
function stampOf(gitDir: string): string {
  const { ino, size, mtimeMs } = statSync(join(gitDir, 'config'))
  return `${ino} ${size} ${mtimeMs}`
}

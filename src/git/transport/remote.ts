import type { Oid } from '../objects/object.ts'
import { decodePacket, encodePacket, flushPacket, PktLineError, packetText, readPackets } from '../serve/pkt-line.ts'

// isomorphic-git does not speak to forges (`npm run bench transport`). Its `fetch` keeps a pack three times in memory, and needs a HEAD on the
// remote. Its `push` moves one ref and sends the whole tree: a new branch takes 48 times as long. Its `listServerRefs` takes a truncated
// response, `ERR` and a web page for a list of refs: missing branches would count as deleted.

/** Remote repository over HTTP. The credential is sent in a header, so no other process sees it. */
export type RemoteAccess = { url: string; username: string; password: string }

export type RemoteOptions = {
  signal?: AbortSignal | undefined
  /** Milliseconds without a byte in either direction after which a request is aborted. */
  timeoutMs?: number
}

/** Requested move of a ref. Without `from` it is created, without `to` it is deleted. The remote must have `from`. */
export type RemoteUpdate = { ref: string; from: Oid | undefined; to: Oid | undefined }

/** Error of a request. `unreachable`: no usable response. `refused`: the credential lacks the right. `protocol`: not a git server. */
export class RemoteError extends Error {
  readonly code: 'unreachable' | 'refused' | 'protocol'
  /** Value of `Retry-After` in the response. */
  readonly retryAfter: string | null

  constructor(
    code: RemoteError['code'],
    message: string,
    { cause, retryAfter = null }: { cause?: unknown; retryAfter?: string | null } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.retryAfter = retryAfter
  }
}

const agent = 'agent=ganglion'
const defaultTimeoutMs = 60_000
/** Maximum bytes that are sent at a time, so that progress of a large body is noticed. */
const piece = 64 * 1024
const zeroOid = '0'.repeat(40)
const delimiterPacket = Buffer.from('0001')
/** Bands of a side-band packet; see gitprotocol-pack(5). */
const dataBand = 1
const messageBand = 2
const errorBand = 3
/** Maximum characters of a server's error message. */
const maxComplaint = 300
/** Maximum characters of hooks' output that are kept; only the last ones are. */
const maxSaid = 4_000

/** Returns the refs with one of these prefixes, by version 2 of git's protocol. @throws {RemoteError} */
export async function listRemoteRefs(
  remote: RemoteAccess,
  prefixes: readonly string[],
  options: RemoteOptions = {},
): Promise<Map<string, Oid>> {
  const refs = new Map<string, Oid>()
  const asked = command(
    'ls-refs',
    prefixes.map((prefix) => `ref-prefix ${prefix}\n`),
  )
  let isWhole = false
  const onFlush = () => {
    isWhole = true
  }
  for await (const payload of lines(await post(remote, 'upload-pack', [asked], options), onFlush)) {
    const [, oid, ref] = /^([0-9a-f]{40}) (\S+)/.exec(packetText(payload)) ?? []
    if (oid === undefined || ref === undefined) throw new RemoteError('protocol', 'the remote names no refs')
    refs.set(ref, oid)
  }
  // A truncated list could lack branches, which would count as deleted.
  if (!isWhole) throw new RemoteError('unreachable', 'the remote did not name all refs')
  return refs
}

/** Checks that the credential may push. @throws {RemoteError} */
export async function requirePushAccess(
  remote: RemoteAccess,
  { timeoutMs = defaultTimeoutMs }: RemoteOptions = {},
): Promise<void> {
  const response = await fetch(`${remote.url}/info/refs?service=git-receive-pack`, {
    headers: { ...authorizationOf(remote), 'user-agent': 'git/ganglion' },
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => {
    throw unreachable(remote.url, cause)
  })
  await response.body?.cancel()
  if (response.status !== 200) throw answeredWith(remote.url, response)
}

/**
 * Fetches a pack with everything reachable from some commits and not from others; see gitprotocol-v2(5), "fetch". Commits of `haves`
 * unknown to the remote do no harm. The pack is not checked here: its reader must bound it.
 * @throws {RemoteError}, also while it is read
 */
export async function* fetchPack(
  remote: RemoteAccess,
  { wants, haves }: { wants: readonly Oid[]; haves: readonly Oid[] },
  options: RemoteOptions = {},
): AsyncGenerator<Buffer> {
  const asked = command('fetch', [
    'no-progress\n',
    'ofs-delta\n',
    ...wants.map((oid) => `want ${oid}\n`),
    ...haves.map((oid) => `have ${oid}\n`),
    'done\n',
  ])
  let isPack = false
  for await (const payload of lines(await post(remote, 'upload-pack', [asked], options))) {
    if (isPack) yield* dataOf(payload)
    else if (packetText(payload) === 'packfile') isPack = true
    else throw new RemoteError('protocol', `the remote sends no pack: ${complaintOf(payload)}`)
  }
  if (!isPack) throw new RemoteError('protocol', 'the remote sends no pack')
}

/**
 * Moves refs of a remote, each only from its expected value. Unlike git's own client, does not request the refs first: {@link
 * listRemoteRefs} has returned them.
 * @param pack objects that the new commits need and the remote lacks; undefined if refs are only deleted
 * @returns the reason for each ref that did not move
 * @throws {RemoteError}; the refs may have moved if it is `unreachable`
 */
export async function pushToRemote(
  remote: RemoteAccess,
  updates: readonly RemoteUpdate[],
  pack: Buffer | undefined,
  options: RemoteOptions = {},
): Promise<Map<string, string>> {
  const commands = updates.map(({ ref, from = zeroOid, to = zeroOid }, at) =>
    encodePacket(
      `${from} ${to} ${ref}${at === 0 ? `\0 report-status side-band-64k ofs-delta delete-refs ${agent}` : ''}`,
    ),
  )
  const body = [...commands, flushPacket, ...(pack === undefined ? [] : [pack])]
  const chunks: Buffer[] = []
  let said = ''
  for await (const payload of lines(await post(remote, 'receive-pack', body, options))) {
    if (payload[0] === messageBand) said = `${said}${payload.subarray(1)}`.slice(-maxSaid)
    for (const data of dataOf(payload)) chunks.push(data)
  }
  const refused = refusedRefs(Buffer.concat(chunks), updates)
  // The output of a hook explains more than its status.
  const words = onOneLine(said).trim().slice(0, maxComplaint)
  if (words !== '') for (const [ref, reason] of refused) refused.set(ref, `${reason}: ${words}`)
  return refused
}

/** Parses `report-status`; see gitprotocol-pack(5). */
function refusedRefs(report: Buffer, updates: readonly RemoteUpdate[]): Map<string, string> {
  const said = new Map<string, string | undefined>()
  for (let at = 0, next = decodePacket(report, at); next !== undefined; next = decodePacket(report, at)) {
    at = next.end
    if (next.packet.kind !== 'line') continue
    const text = packetText(next.packet.payload)
    const [, verdict, ref = '', reason = ''] = /^(ok|ng) (\S+) ?(.*)$/.exec(text) ?? []
    if (verdict !== undefined) said.set(ref, verdict === 'ok' ? undefined : reason.slice(0, maxComplaint))
    else if (text.startsWith('unpack ') && text !== 'unpack ok')
      throw new RemoteError('protocol', `the remote: ${text}`)
  }
  const refused = updates.filter(({ ref }) => !said.has(ref) || said.get(ref) !== undefined)
  return new Map(refused.map(({ ref }) => [ref, said.get(ref) ?? 'the remote did not say what became of it']))
}

function command(name: string, args: readonly string[]): Buffer {
  const head = [`command=${name}\n`, `${agent}\n`, 'object-format=sha1\n']
  return Buffer.concat([...head.map(encodePacket), delimiterPacket, ...args.map(encodePacket), flushPacket])
}

async function post(
  remote: RemoteAccess,
  service: 'upload-pack' | 'receive-pack',
  body: readonly Buffer[],
  { signal, timeoutMs = defaultTimeoutMs }: RemoteOptions,
): Promise<AsyncIterable<Buffer>> {
  const { url } = remote
  const idle = idleSignal(timeoutMs)
  const ends = AbortSignal.any([idle.signal, ...(signal === undefined ? [] : [signal])])
  const response = await fetch(`${url}/git-${service}`, {
    method: 'POST',
    headers: {
      ...authorizationOf(remote),
      'content-type': `application/x-git-${service}-request`,
      accept: `application/x-git-${service}-result`,
      'user-agent': 'git/ganglion',
      ...(service === 'upload-pack' ? { 'git-protocol': 'version=2' } : {}),
    },
    ...(body.some(({ length }) => length > piece)
      ? { body: ReadableStream.from(pieces(body, idle.touch)), duplex: 'half' }
      : { body: new Uint8Array(Buffer.concat(body)) }),
    // Following a redirect would send the credential elsewhere.
    redirect: 'manual',
    signal: ends,
  }).catch((cause: unknown) => {
    throw unreachable(url, cause)
  })
  const { status } = response
  idle.touch()
  if (status === 200 && response.body !== null) return bytesOf(url, response.body, idle)
  idle.end()
  await response.body?.cancel()
  throw answeredWith(url, response)
}

function authorizationOf({ username, password }: RemoteAccess): Record<string, string> {
  if (password === '') return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

function answeredWith(url: string, { status, headers }: Response): RemoteError {
  const isMoved = status >= 300 && status < 400
  const moved = isMoved ? ': the repository was renamed or moved; link it again by its new address' : ''
  const message = `git at ${new URL(url).host} answered with ${status}${moved}`
  const retryAfter = headers.get('retry-after')
  return new RemoteError(status >= 500 || status === 429 ? 'unreachable' : 'refused', message, { retryAfter })
}

async function* bytesOf(
  url: string,
  body: ReadableStream<Uint8Array>,
  { touch, end }: ReturnType<typeof idleSignal>,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) {
      touch()
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    }
  } catch (cause) {
    throw unreachable(url, cause)
  } finally {
    end()
  }
}

function* pieces(body: readonly Buffer[], touch: () => void): Generator<Buffer> {
  for (const part of body) {
    for (let at = 0; at < part.length; at += piece) {
      touch()
      yield part.subarray(at, at + piece)
    }
  }
}

/** Returns a signal that aborts after a time without a call of `touch`. */
function idleSignal(timeoutMs: number): { signal: AbortSignal; touch: () => void; end: () => void } {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), timeoutMs).unref()
  return { signal: abort.signal, touch: () => void timer.refresh(), end: () => clearTimeout(timer) }
}

function unreachable(url: string, cause: unknown): RemoteError {
  return new RemoteError('unreachable', `git at ${new URL(url).host} cannot be reached`, { cause })
}

/** Yields the lines of a response, without the marks that separate them. @throws {RemoteError} */
async function* lines(stream: AsyncIterable<Buffer>, onFlush = () => {}): AsyncGenerator<Buffer> {
  try {
    for await (const packet of readPackets(stream)) {
      if (packet.kind === 'flush') onFlush()
      if (packet.kind !== 'line') continue
      if (packet.payload.subarray(0, 4).toString() === 'ERR ')
        throw new RemoteError('refused', `the remote: ${complaintOf(packet.payload.subarray(4))}`)
      yield packet.payload
    }
  } catch (cause) {
    if (!(cause instanceof PktLineError)) throw cause
    throw new RemoteError('protocol', 'the remote does not speak the protocol of git', { cause })
  }
}

/** Yields the data of a side-band packet. Ignores progress messages. @throws {RemoteError} with the remote's error message */
function* dataOf(payload: Buffer): Generator<Buffer> {
  if (payload[0] === errorBand) throw new RemoteError('protocol', `the remote: ${complaintOf(payload.subarray(1))}`)
  if (payload[0] === dataBand) yield payload.subarray(1)
}

function complaintOf(payload: Buffer): string {
  return onOneLine(packetText(payload)).slice(0, maxComplaint)
}

function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ')
}

import { backoff, contentRange, firstProof, nextChunk, type Setback, setbackOf } from './upload-plan.ts'

export type UploadTarget = {
  kb: string
  path: string
  replace: boolean
  /** True to upload bytes that another Source has already. */
  force: boolean
  uploadId: string | undefined
}

export type Step = { sent: number; note?: string }

/** End of an upload. `paused`: by its signal. */
export type End =
  | { kind: 'done'; id: string }
  | { kind: 'paused' }
  | Extract<Setback, { kind: 'duplicate' } | { kind: 'stop' }>

/** Response of the API. Status 0: none was received. */
export type Reply = { status: number; body: unknown; retryAfter: string | null }

/** Access to the API. Does not throw if it cannot be reached; only `hash` throws, for a file that cannot be read. */
export type Transport = {
  call(method: string, path: string, body?: unknown): Promise<Reply>
  sendBlob(path: string, range: string, blob: Blob, sent: (bytes: number) => void): Promise<Reply>
  /** Returns the SHA-256 of a file in hexadecimal; undefined if it is too large. */
  hash(file: File): Promise<string | undefined>
  wait(milliseconds: number): Promise<void>
}

/** Maximum number of consecutive failed attempts. */
const maxFailures = 10

/** Sends one file in chunks. Retries temporary failures with backoff. Sets the id of the upload in the target. */
export async function runUpload(
  file: File,
  target: UploadTarget,
  { transport, show, signal }: { transport: Transport; show: (step: Step) => void; signal: AbortSignal },
): Promise<End> {
  const { size } = file
  const query = String(new URLSearchParams({ force: String(target.force), replace: String(target.replace) }))
  let chunkSize = 8 * 1024 * 1024
  /** Whether the server has bytes from an earlier run, maybe of another file, and whether it has compared the first ones. */
  let isResumed = target.uploadId !== undefined
  let isProven = !isResumed
  /** Number of bytes that the server has; undefined if it must be asked. */
  let received = isResumed ? undefined : 0

  const begin = async (): Promise<Reply | End | undefined> => {
    show({ sent: 0 })
    let contentHash: string | undefined
    try {
      contentHash = await transport.hash(file)
    } catch {
      return { kind: 'stop', message: 'The file cannot be read: choose it again.', canResume: false }
    }
    const input = { filename: file.name, fileSize: size, path: target.path, ...(contentHash && { contentHash }) }
    const init = `/api/v1/knowledge-bases/${encodeURIComponent(target.kb)}/documents/upload/init?${query}`
    const reply = await transport.call('POST', init, input)
    if (reply.status !== 201) return reply
    target.uploadId = textIn(reply.body, 'uploadId')
    chunkSize = numberIn(reply.body, 'chunkSize') ?? chunkSize
    return undefined
  }

  /** Sends one request. Returns its failure, the end of the upload, or undefined if there is more to do. */
  const next = async (): Promise<Reply | End | undefined> => {
    if (target.uploadId === undefined) return begin()
    const upload = `/api/v1/uploads/${target.uploadId}`
    if (received === undefined) {
      const reply = await transport.call('GET', upload)
      received = numberIn(reply.body, 'bytesReceived')
      return reply.status === 200 ? undefined : reply
    }
    const first = isProven ? undefined : firstProof(received)
    const range = first ?? nextChunk({ size, chunkSize }, received, isResumed)
    if (range === undefined) {
      show({ sent: size, note: 'The server puts it together.' })
      const reply = await transport.call('POST', `${upload}/finalize?${query}`)
      return reply.status === 201 ? { kind: 'done', id: textIn(reply.body, 'id') } : reply
    }
    const [before, blob] = [received, file.slice(range.first, range.end)]
    const reply = await transport.sendBlob(`${upload}/chunk`, contentRange(range, size), blob, (sent) =>
      show({ sent: Math.max(before, range.first + sent) }),
    )
    // The server keeps the received part of an interrupted chunk, so its size is asked again.
    received = reply.status === 200 ? numberIn(reply.body, 'bytesReceived') : undefined
    if (received === undefined) return reply
    if (first === undefined) isResumed = false
    isProven = true
    show({ sent: received })
    return undefined
  }

  for (let failures = 0; !signal.aborted; ) {
    const reply = await next()
    if (signal.aborted) break
    if (reply === undefined) {
      failures = 0
      continue
    }
    if ('kind' in reply) return reply
    const setback = setbackOf(reply.status, reply.body, reply.retryAfter)
    if (setback.kind === 'duplicate' || setback.kind === 'stop') return setback
    if (++failures >= maxFailures) return { kind: 'stop', message: 'The server cannot be reached.', canResume: true }
    if (setback.kind === 'continue') {
      received = setback.received
      continue
    }
    show({ sent: received ?? 0, note: 'The connection is lost; trying again.' })
    await transport.wait(backoff(failures, Math.random(), setback.retryAfter))
  }
  return { kind: 'paused' }
}

function fieldIn(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
}

function textIn(body: unknown, name: string): string {
  const value = fieldIn(body, name)
  return typeof value === 'string' ? value : ''
}

function numberIn(body: unknown, name: string): number | undefined {
  const value = fieldIn(body, name)
  return typeof value === 'number' ? value : undefined
}

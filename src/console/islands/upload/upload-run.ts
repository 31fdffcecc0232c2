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

/** An answer; status 0: there was none. */
export type Reply = { status: number; body: unknown; retryAfter: string | null }

/** Access to the API. Does not throw if it cannot be reached; only `hash` throws, for a file that cannot be read. */
export type Transport = {
  call(method: string, path: string, body?: unknown): Promise<Reply>
  sendBlob(path: string, range: string, blob: Blob, sent: (bytes: number) => void): Promise<Reply>
  /** SHA-256 of a file in hexadecimal, unless it is too large. */
  hash(file: File): Promise<string | undefined>
  wait(milliseconds: number): Promise<void>
}

/** Attempts that fail one after the other. */
const maxFailures = 10

/** Sends one file in chunks. Retries temporary failures with backoff. */
export class UploadRun {
  readonly #file: File
  readonly #target: UploadTarget
  readonly #transport: Transport
  readonly #show: (step: Step) => void
  readonly #query: string
  #chunkSize = 8 * 1024 * 1024
  /** Number of bytes that the server has; undefined if it must be asked. */
  #received: number | undefined
  /** Whether the server has bytes from an earlier run, maybe of another file. */
  #isResumed: boolean
  /** Whether it has compared the first ones. */
  #isProven: boolean
  #failures = 0

  constructor(file: File, target: UploadTarget, transport: Transport, show: (step: Step) => void) {
    this.#file = file
    this.#target = target
    this.#transport = transport
    this.#show = show
    this.#query = String(new URLSearchParams({ force: String(target.force), replace: String(target.replace) }))
    this.#isResumed = target.uploadId !== undefined
    this.#isProven = !this.#isResumed
    this.#received = this.#isResumed ? undefined : 0
  }

  async run(signal: AbortSignal): Promise<End> {
    while (!signal.aborted) {
      const reply = await this.#next()
      if (signal.aborted) break
      if (reply === undefined) this.#failures = 0
      else if ('kind' in reply) return reply
      else {
        const end = await this.#overcome(setbackOf(reply.status, reply.body, reply.retryAfter))
        if (end !== undefined) return end
      }
    }
    return { kind: 'paused' }
  }

  /** Sends one request. Returns the outcome, or undefined if it succeeded and there is more to do. */
  async #next(): Promise<Reply | End | undefined> {
    const { uploadId } = this.#target
    if (uploadId === undefined) return this.#begin()
    if (this.#received === undefined) return this.#ask(uploadId)
    const first = this.#isProven ? undefined : firstProof(this.#received)
    const range =
      first ?? nextChunk({ size: this.#file.size, chunkSize: this.#chunkSize }, this.#received, this.#isResumed)
    if (range === undefined) return this.#finalize(uploadId)
    const blob = this.#file.slice(range.first, range.end)
    const before = this.#received
    const path = `/api/v1/uploads/${uploadId}/chunk`
    const reply = await this.#transport.sendBlob(path, contentRange(range, this.#file.size), blob, (sent) =>
      this.#show({ sent: Math.max(before, range.first + sent) }),
    )
    // The server keeps the received part of an interrupted chunk, so its size is asked again.
    this.#received = reply.status === 200 ? numberIn(reply.body, 'bytesReceived') : undefined
    if (this.#received === undefined) return reply
    if (first === undefined) this.#isResumed = false
    this.#isProven = true
    this.#show({ sent: this.#received })
    return undefined
  }

  async #begin(): Promise<Reply | End | undefined> {
    const { kb, path } = this.#target
    this.#show({ sent: 0 })
    let contentHash: string | undefined
    try {
      contentHash = await this.#transport.hash(this.#file)
    } catch {
      return { kind: 'stop', message: 'The file cannot be read: choose it again.', canResume: false }
    }
    const input = { filename: this.#file.name, fileSize: this.#file.size, path, ...(contentHash && { contentHash }) }
    const init = `/api/v1/knowledge-bases/${encodeURIComponent(kb)}/documents/upload/init?${this.#query}`
    const reply = await this.#transport.call('POST', init, input)
    if (reply.status !== 201) return reply
    this.#target.uploadId = textIn(reply.body, 'uploadId')
    this.#chunkSize = numberIn(reply.body, 'chunkSize') ?? this.#chunkSize
    return undefined
  }

  async #ask(uploadId: string): Promise<Reply | undefined> {
    const reply = await this.#transport.call('GET', `/api/v1/uploads/${uploadId}`)
    this.#received = numberIn(reply.body, 'bytesReceived')
    return reply.status === 200 ? undefined : reply
  }

  async #finalize(uploadId: string): Promise<Reply | End> {
    this.#show({ sent: this.#file.size, note: 'The server puts it together.' })
    const reply = await this.#transport.call('POST', `/api/v1/uploads/${uploadId}/finalize?${this.#query}`)
    return reply.status === 201 ? { kind: 'done', id: textIn(reply.body, 'id') } : reply
  }

  async #overcome(setback: Setback): Promise<End | undefined> {
    if (setback.kind === 'duplicate' || setback.kind === 'stop') return setback
    this.#failures++
    if (this.#failures >= maxFailures)
      return { kind: 'stop', message: 'The server cannot be reached.', canResume: true }
    if (setback.kind === 'continue') {
      this.#received = setback.received
      return undefined
    }
    this.#show({ sent: this.#received ?? 0, note: 'The connection is lost; trying again.' })
    await this.#transport.wait(backoff(this.#failures, Math.random(), setback.retryAfter))
    return undefined
  }
}

function textIn(body: unknown, name: string): string {
  const value = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  return typeof value === 'string' ? value : ''
}

function numberIn(body: unknown, name: string): number | undefined {
  const value = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  return typeof value === 'number' ? value : undefined
}

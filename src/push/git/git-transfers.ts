import { join } from 'node:path'
import { Readable } from 'node:stream'
import { GanglionError } from '../../contract/errors.ts'
import { GitError } from '../../git/git-error.ts'
import { Advertisements, answerLsRefs, type LsRefs, peekLsRefs } from '../../git/serve/ls-refs.ts'
import type { Receiver } from '../../git/serve/receive-hooks.ts'
import {
  type GitService,
  isVersion2,
  serveTransfer,
  type TransferLimits,
  type TransferRequest,
} from '../../git/serve/smart-http.ts'
import { takeSlot } from '../../kb/failure.ts'
import { FairSlots, type SlotClaim, type SlotLimits } from '../../system/concurrency/fair-slots.ts'

export type GitAddress = {
  tenant: string
  kb: string
  /** Origin of the server as the caller reaches it. */
  reachedAt: string
}

export type GitDoor = {
  gitDir: string
  /** Claim under which the caller's git processes are counted. */
  claim: SlotClaim
  brokenRefs: readonly string[]
  /** Creates the refs that a fetch requests, if they are made on demand. Prefixes as in `ls-refs` of protocol v2; none: all. */
  prepareFetch(refPrefixes: readonly string[]): Promise<void>
  /** Receiver of the caller's pushes; undefined for a partial clone, which accepts none. */
  receiver: Receiver | undefined
}

export type { GitService }
export type GitLimits = TransferLimits &
  SlotLimits & {
    /** Milliseconds for which a client may stop reading an answer. */
    stallTime: number
  }

/** Request to git. `onError` receives the errors that are not sent to the client. */
export type GitRequest = Pick<TransferRequest, 'service' | 'protocol' | 'body' | 'signal' | 'onError'>

const noPush = 'This repository shows a part of the knowledge base and takes no push: push to that of all of it.'
const mebibyte = 1024 * 1024
const gibibyte = 1024 * mebibyte

/** Limits of a push's pack. */
export const packLimits = {
  maxPack: 64 * mebibyte,
  maxObjects: 100_000,
  maxObjectBytes: 64 * mebibyte,
  maxUnpackedBytes: gibibyte,
}

export class GitTransfers {
  readonly #limits: GitLimits
  readonly #slots: FairSlots
  readonly #advertisements = new Advertisements()
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<void>>()
  /** Broken refs that were reported. */
  readonly #told = new Set<string>()

  constructor(limits: Partial<GitLimits> = {}) {
    const transfer = {
      ...packLimits,
      maxRefs: 10,
      cpuSeconds: 60,
      maxMemory: 4 * gibibyte,
      wallTime: 600_000,
      stallTime: 30_000,
    }
    const slots = { perKey: 2, perRepository: 4, perTenant: 6, inAll: 8 }
    const queue = { waiting: 1000, waitingPerKey: 200, patience: 300_000 }
    this.#limits = { ...transfer, ...slots, ...queue, ...limits }
    this.#slots = new FairSlots(this.#limits)
  }

  /** Returns the maximum bytes of a request's inflated body. */
  maxBody(service: GitService): number {
    return service === 'upload-pack' ? 4 * mebibyte : this.#limits.maxPack + mebibyte
  }

  /**
   * Serves one request of the smart HTTP protocol.
   * @returns the answer's body, which throws at its end if git failed after its answer had begun
   * @throws {GanglionError} `rate_limited` or `unavailable` if too many others are served
   */
  async serve(door: GitDoor, request: GitRequest): Promise<AsyncIterable<Buffer>> {
    if (request.service === 'receive-pack' && door.receiver === undefined) {
      throw new GanglionError('insufficient_role', noPush)
    }
    const { gitDir } = door
    const isStatic = request.service === 'upload-pack' && request.body === undefined && isVersion2(request.protocol)
    if (!isStatic) return this.#run(door, request)
    const { protocol = '' } = request
    const known = this.#advertisements.find(gitDir, protocol)
    if (known !== undefined) return Readable.from([known])
    return this.#advertisements.keep(gitDir, protocol, await this.#run(door, request))
  }

  async #run(door: GitDoor, request: GitRequest): Promise<AsyncIterable<Buffer>> {
    const { gitDir, brokenRefs, receiver, claim } = door
    this.#tellBroken(door, request)
    const { body, lsRefs } = await prepare(door, request)
    const refs = lsRefs && (await answerLsRefs(gitDir, lsRefs, brokenRefs))
    if (refs !== undefined) return Readable.from([refs])
    const stalled = new AbortController()
    const signal = AbortSignal.any([request.signal, this.#closing.signal, stalled.signal])
    const release = await takeSlot(this.#slots, claim, signal)
    const { promise: done, resolve } = Promise.withResolvers<void>()
    this.#running.add(done)
    const finish = () => {
      release()
      this.#running.delete(done)
      resolve()
    }
    try {
      const transfer = {
        ...request,
        gitDir,
        brokenRefs,
        receiver,
        signal,
        ...(body === undefined ? {} : { body }),
      }
      const { output, settled } = await serveTransfer(transfer, this.#limits)
      void settled.finally(finish)
      return unlessStalled(output, this.#limits.stallTime, stalled)
    } catch (error) {
      finish()
      throw error
    }
  }

  #tellBroken({ gitDir, brokenRefs }: GitDoor, { onError }: GitRequest): void {
    for (const ref of brokenRefs) {
      const path = join(gitDir, ref)
      if (this.#told.has(path)) continue
      this.#told.add(path)
      onError(new GitError('bad-ref', `${path} leads to no object. Clones and pushes leave it out; remove it.`))
    }
  }

  /** Rejects queued requests, and lets running ones continue. */
  drain(): void {
    this.#slots.close()
  }

  /** Aborts running requests, and waits until their work has ended. */
  async close(): Promise<void> {
    this.#closing.abort(new GanglionError('unavailable'))
    await Promise.all(this.#running)
  }
}

/** Aborts if a chunk is not read in time, so that a client which does not read frees its process. */
async function* unlessStalled(
  output: AsyncIterable<Buffer>,
  stallTime: number,
  stalled: AbortController,
): AsyncGenerator<Buffer> {
  for await (const piece of output) {
    const timer = setTimeout(() => stalled.abort(new GanglionError('request_timeout')), stallTime)
    try {
      yield piece
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Creates the refs that the client is about to see. Before protocol v2 the advertisement shows all of them. */
async function prepare(
  door: GitDoor,
  { service, protocol, body }: GitRequest,
): Promise<{ body: GitRequest['body']; lsRefs?: LsRefs | undefined }> {
  if (service === 'receive-pack') return { body }
  if (!isVersion2(protocol)) {
    if (body === undefined) await door.prepareFetch([])
    return { body }
  }
  if (body === undefined) return { body }
  const request = await peekLsRefs(body)
  if (request.lsRefs !== undefined) await door.prepareFetch(request.lsRefs.refPrefixes)
  return request
}

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { UploadProgress, UploadStatus, UploadTicket } from '../../../../src/contract/documents.ts'
import { kbSlug } from '../deployment.ts'
import type { IngestApi } from './ingest-api.ts'
import { newDocument, type TestDocument } from './ingest-documents.ts'
import type { IngestLedger } from './ingest-ledger.ts'

type Open = {
  document: TestDocument
  key: string
  announces: boolean
  /** Whether it is abandoned once its bytes are there. */
  isDropped: boolean
  id: string | undefined
  received: number
}

/** Uploads one file after the other in chunks, and goes on with the same one after each restart of the server. */
export class ChunkUploader {
  readonly #ledger: IngestLedger
  #open: Open | undefined
  /** Whether a chunk is on its way. */
  isSending = false
  resumed = 0
  finished = 0

  constructor(ledger: IngestLedger) {
    this.#ledger = ledger
  }

  /** Until told to stop; a file that was begun is finished by the next call. */
  async work(api: IngestApi, isOver: () => boolean, pauseMs: number): Promise<void> {
    while (!isOver()) {
      if (!(await this.#oneFile(api, isOver, pauseMs))) return
      await delay(1_000 * Math.random())
    }
  }

  /** Finishes what was begun. */
  async finish(api: IngestApi): Promise<void> {
    if (this.#open !== undefined) await this.#oneFile(api, () => false, 0)
  }

  /** @returns false where the connection broke, or it was told to stop. */
  async #oneFile(api: IngestApi, isOver: () => boolean, pauseMs: number): Promise<boolean> {
    this.#open ??= newUpload()
    const open = this.#open
    const id = open.id ?? (await this.#begin(api, open))
    if (id === undefined || !(await this.#resume(api, open, id))) return false
    const { length } = open.document.bytes
    while (open.received < length) {
      if (isOver() || !(await this.#send(api, open, id))) return false
      await delay(pauseMs * Math.random())
    }
    return open.isDropped ? this.#abandon(api, id) : this.#finalize(api, open, id)
  }

  async #begin(api: IngestApi, open: Open): Promise<string | undefined> {
    const { filename, bytes, sha256 } = open.document
    const json = { filename, fileSize: bytes.length, ...(open.announces ? { contentHash: sha256 } : {}) }
    const headers = { 'idempotency-key': open.key }
    const answer = await api.request('POST', `/knowledge-bases/${kbSlug}/documents/upload/init`, { json, headers })
    if (answer === undefined) return undefined
    if (answer.status === 201) open.id = UploadTicket.parse(answer.body).uploadId
    else api.unexpected('init', answer)
    return open.id
  }

  /** Asks how far it is: as far as it was told before, at the least. */
  async #resume(api: IngestApi, open: Open, id: string): Promise<boolean> {
    const answer = await api.request('GET', `/uploads/${id}`)
    if (answer === undefined) return false
    if (answer.status === 404 && this.#ledger.abandoned.has(id)) {
      this.#open = undefined
      return false
    }
    if (answer.status !== 200) {
      api.unexpected('resume', answer)
      return false
    }
    const { bytesReceived } = UploadStatus.parse(answer.body)
    if (bytesReceived < open.received) {
      this.#ledger.unexpected.push(`${id} had ${open.received} bytes, and has ${bytesReceived}`)
    }
    if (bytesReceived > 0 && bytesReceived < open.document.bytes.length) this.resumed++
    open.received = bytesReceived
    return true
  }

  /** The next chunk, now and then beginning with bytes that were sent before. */
  async #send(api: IngestApi, open: Open, id: string): Promise<boolean> {
    const { bytes } = open.document
    const start = Math.random() < 0.2 ? Math.max(0, open.received - 1_000) : open.received
    const end = Math.min(bytes.length, open.received + 1 + Math.floor(Math.random() * 300_000))
    this.isSending = true
    const answer = await api.request('PATCH', `/uploads/${id}/chunk`, {
      body: slowly(bytes.subarray(start, end)),
      headers: {
        'content-type': 'application/octet-stream',
        'content-range': `bytes ${start}-${end - 1}/${bytes.length}`,
      },
    })
    this.isSending = false
    if (answer === undefined) this.#ledger.cutChunks++
    else if (answer.status !== 200) api.unexpected('chunk', answer)
    if (answer?.status !== 200) return false
    open.received = UploadProgress.parse(answer.body).bytesReceived
    // A chunk whose answer was lost may have come meanwhile.
    if (open.received < end) this.#ledger.unexpected.push(`after byte ${end} of ${id} it has ${open.received}`)
    return true
  }

  async #abandon(api: IngestApi, id: string): Promise<boolean> {
    this.#ledger.abandoned.add(id)
    const answer = await api.request('DELETE', `/uploads/${id}`)
    if (answer === undefined) return false
    if (answer.status !== 204) api.unexpected('abandon', answer)
    this.#open = undefined
    return true
  }

  async #finalize(api: IngestApi, { document }: Open, id: string): Promise<boolean> {
    this.#ledger.abandoned.delete(id)
    const answer = await api.request('POST', `/uploads/${id}/finalize`)
    if (answer === undefined) return false
    if (answer.status === 201) {
      const source = api.takeSource(answer.body, document)
      if (source !== id) this.#ledger.unexpected.push(`the upload ${id} became ${source}`)
      this.finished++
    } else api.unexpected('finalize', answer)
    this.#open = undefined
    return true
  }
}

function newUpload(): Open {
  const document = newDocument('html', Math.ceil(Math.random() * 2 ** 21))
  const [announces, isDropped] = [Math.random() < 0.5, Math.random() < 0.1]
  return { document, key: randomUUID(), announces, isDropped, id: undefined, received: 0 }
}

/** A body that takes some milliseconds. */
function slowly(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const step = Math.ceil(bytes.length / 4)
  let at = 0
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(bytes.subarray(at, at + step))
      at += step
      if (at >= bytes.length) controller.close()
      else await delay(2)
    },
  })
}

import { z } from 'zod'
import { DuplicateSource, IngestReceipt, SourceAnswer } from '../../../../src/contract/documents.ts'
import type { Tolerance } from '../api.ts'
import { kbSlug } from '../deployment.ts'
import { sha256Of, type TestDocument } from './ingest-documents.ts'
import type { IngestLedger, WholeUpload } from './ingest-ledger.ts'

export type Answer = { status: number; body: unknown }
type Asked = { json?: unknown; body?: RequestInit['body']; headers?: Record<string, string> }

const Refusal = z.object({ error: z.string() })
const documentsPath = `/knowledge-bases/${kbSlug}/documents`

/** A client of the routes of Sources that writes every acknowledgement down. */
export class IngestApi {
  readonly #url: string
  readonly #token: string
  readonly #ledger: IngestLedger
  readonly #tolerance: Tolerance

  constructor(url: string, token: string, ledger: IngestLedger, tolerance: Tolerance = 'no failures') {
    this.#url = url
    this.#token = token
    this.#ledger = ledger
    this.#tolerance = tolerance
  }

  /** The answer, or undefined when the connection broke first, or where failures are tolerated and the server failed. */
  async request(method: string, path: string, { json, body, headers = {} }: Asked = {}): Promise<Answer | undefined> {
    try {
      const response = await fetch(`${this.#url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(json === undefined ? { body: body ?? null } : { body: JSON.stringify(json) }),
        ...(body instanceof ReadableStream ? { duplex: 'half' as const } : {}),
      })
      const text = await response.text()
      if (response.status >= 500 && this.#tolerance === 'failures') {
        this.#ledger.failures++
        return undefined
      }
      return { status: response.status, body: text === '' ? null : JSON.parse(text) }
    } catch {
      return undefined
    }
  }

  /** @returns the id of the Source; undefined where it is not known. */
  async upload(upload: WholeUpload): Promise<string | undefined> {
    const { document, idempotencyKey, force } = upload
    const form = new FormData()
    form.set('file', new Blob([document.bytes]), document.filename)
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    const answer = await this.request('POST', `${documentsPath}/upload?force=${force}`, { body: form, headers })
    if (answer === undefined) {
      this.#ledger.cut.push(upload)
      this.#ledger.cutUploads++
    } else if (answer.status === 201) return this.takeSource(answer.body, document)
    else if (answer.status === 409 && !force) {
      this.#ledger.duplicates++
      return DuplicateSource.parse(answer.body).existingDocumentId
    } else this.unexpected('upload', answer)
    return undefined
  }

  /** Writes down a Source that was acknowledged. */
  takeSource(body: unknown, document: TestDocument): string {
    const { id, contentHash, filename, fileSize } = SourceAnswer.parse(body)
    const known = this.#ledger.sources.get(id)
    if (known !== undefined && known.document !== document) {
      this.#ledger.unexpected.push(`${filename} is the Source ${id}, and so is ${known.document.filename}`)
    }
    if (contentHash !== document.sha256 || fileSize !== document.bytes.length || filename !== document.filename) {
      this.#ledger.unexpected.push(`${document.filename} was taken as ${JSON.stringify(body)}`)
    }
    this.#ledger.tell(id, document)
    return id
  }

  async ingest(id: string): Promise<void> {
    const answer = await this.request('POST', `/documents/${id}/ingest`)
    if (answer === undefined) return this.#ledger.countAgain(id, 'cut')
    const { message } = answer.status === 202 ? IngestReceipt.parse(answer.body) : {}
    if (message?.endsWith(' begins.')) return this.#ledger.countAgain(id, 'taken')
    // A ready Source waits for the ingest of its upload: none is added.
    if (message?.endsWith(' is already queued.')) this.#ledger.alreadyQueued++
    else if (!isRefusal(answer, 'already_processing')) this.unexpected('ingest', answer)
  }

  async archive(id: string): Promise<'done' | 'refused' | 'unknown'> {
    const answer = await this.request('DELETE', `/documents/${id}`)
    if (answer === undefined) {
      this.#ledger.cutArchivings.add(id)
      return 'unknown'
    }
    if (answer.status !== 204) {
      if (!isRefusal(answer, 'already_processing')) this.unexpected('archive', answer)
      return 'refused'
    }
    this.#ledger.cutArchivings.delete(id)
    this.#ledger.archived.add(id)
    return 'done'
  }

  /** The SHA-256 of what is downloaded; undefined where that fails. */
  async contentHash(id: string): Promise<string | undefined> {
    const headers = { authorization: `Bearer ${this.#token}` }
    const response = await fetch(`${this.#url}/api/v1/documents/${id}/content`, { headers }).catch(() => undefined)
    return response?.status === 200 ? sha256Of(await response.bytes()) : undefined
  }

  unexpected(action: string, { status, body }: Answer): void {
    this.#ledger.unexpected.push(`${action}: ${status} ${JSON.stringify(body)}`)
  }
}

function isRefusal({ body }: Answer, code: string): boolean {
  return Refusal.safeParse(body).data?.error === code
}

import type { TestDocument } from './ingest-documents.ts'

/** A request to upload a whole file. */
export type WholeUpload = { document: TestDocument; idempotencyKey: string | undefined; force: boolean }

/** A Source that somebody was told of, in which cycle. */
export type ToldSource = { document: TestDocument; cycle: number }

/** Acknowledgements about Sources, which must hold whatever happens. */
export class IngestLedger {
  /** Sources by id. */
  readonly sources = new Map<string, ToldSource>()
  /** Uploads whose answer never came. */
  cut: WholeUpload[] = []
  readonly archived = new Set<string>()
  /** Archivings whose answer never came. */
  readonly cutArchivings = new Set<string>()
  /** Requests for an ingest that was queued already: that of the upload. */
  alreadyQueued = 0
  /** Number of accepted calls for another ingest of a Source, and of calls without a response. */
  readonly again = new Map<string, { taken: number; cut: number }>()
  /** Uploads in chunks that were abandoned. */
  readonly abandoned = new Set<string>()
  /** Answers that nobody should get. */
  readonly unexpected: string[] = []
  cycle = 0
  /** Requests that failed with 5xx where that was to be expected. */
  failures = 0
  cutUploads = 0
  cutChunks = 0
  duplicates = 0

  tell(id: string, document: TestDocument): void {
    this.sources.set(id, { document, cycle: this.cycle })
  }

  countAgain(id: string, how: 'taken' | 'cut'): void {
    const count = this.again.get(id) ?? { taken: 0, cut: 0 }
    count[how]++
    this.again.set(id, count)
  }
}

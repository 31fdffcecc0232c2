/** Properties by which a file is recognised after a reload. */
export type NamedFile = { name: string; size: number }

/** An upload of which the server has received a part. */
export type OpenUpload = { uploadId: string; filename: string; fileSize: number; bytesReceived: number }

export type Range = { first: number; end: number }

/** Number of bytes that the server compares with those it has, to check that the file is the same. */
const proof = 64 * 1024

/** Returns why a file cannot be uploaded; undefined if it can. `types`: extensions without dot. */
export function refusal({ name, size }: NamedFile, types: readonly string[], maxBytes: number): string | undefined {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase()
  if (extension === undefined) return 'Its name has no ending, such as .pdf, that says what it is.'
  if (!types.includes(extension)) return `Files that end in .${extension} are not taken here.`
  if (size === 0) return 'The file is empty.'
  if (size > maxBytes) return `It is larger than ${sizeInWords(maxBytes)}.`
  return undefined
}

/** Returns the open upload that a file resumes: one with the same name and size. */
export function uploadOf(file: NamedFile, open: readonly OpenUpload[]): OpenUpload | undefined {
  return open.find(({ filename, fileSize }) => filename === file.name.normalize('NFC') && fileSize === file.size)
}

/** Returns the first chunk of a resumed upload: the first bytes of the file, to prove that it is the same file. */
export function firstProof(received: number): Range | undefined {
  return received === 0 ? undefined : { first: 0, end: Math.min(received, proof) }
}

/**
 * Returns the next chunk of a file of which the server has `received` bytes. `isResumed`: it begins a little earlier, so that the server
 * can compare. Undefined if everything is sent.
 */
export function nextChunk(
  { size, chunkSize }: { size: number; chunkSize: number },
  received: number,
  isResumed: boolean,
): Range | undefined {
  if (received >= size) return undefined
  const first = isResumed ? Math.max(0, received - proof) : received
  return { first, end: Math.min(size, first + chunkSize) }
}

/** Returns the `content-range` header of a chunk. */
export function contentRange({ first, end }: Range, size: number): string {
  return `bytes ${first}-${end - 1}/${size}`
}

/**
 * Milliseconds until the next attempt: exponential backoff with a jitter of a quarter.
 * @param retryAfter seconds that the server asks for
 */
export function backoff(failures: number, random: number, retryAfter = 0): number {
  const delay = Math.min(60_000, 1000 * 2 ** Math.max(0, failures - 1))
  return Math.max(retryAfter * 1000, Math.round(delay * (0.75 + random / 2)))
}

/** Meaning of an error response for an upload. */
export type Setback =
  | { kind: 'again'; retryAfter: number }
  | { kind: 'continue'; received: number }
  | { kind: 'duplicate'; documentId: string; filename: string; path: string }
  | { kind: 'stop'; message: string; canResume: boolean }

/** Parses a response of the API for an upload. `status` 0: no response. */
export function setbackOf(status: number, body: unknown, retryAfter: string | null): Setback {
  const field = (name: string) => (typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined)
  const text = (name: string) => (typeof field(name) === 'string' ? String(field(name)) : '')
  const received = field('bytesReceived')
  if (field('code') === 'duplicate_source') {
    const [documentId, filename, path] = ['existingDocumentId', 'existingFilename', 'existingPath'].map(text)
    return { kind: 'duplicate', documentId: documentId ?? '', filename: filename ?? '', path: path ?? '/' }
  }
  const isBehind = field('error') === 'offset_mismatch' || field('error') === 'incomplete'
  if (isBehind && typeof received === 'number') return { kind: 'continue', received }
  const isTransient =
    status === 0 || status === 408 || status === 429 || status === 502 || status === 503 || status === 504
  if (isTransient && field('error') !== 'too_many_uploads')
    return { kind: 'again', retryAfter: Number(retryAfter) || 0 }
  const known = field('error') === 'chunk_differs' ? 'chunk_differs' : status
  return { kind: 'stop', ...(reasons[known] ?? { message: text('message') || otherwise, canResume: status >= 500 }) }
}

const otherwise = 'The server did not take it.'
const reasons: Readonly<Record<number | string, { message: string; canResume: boolean }>> = {
  chunk_differs: {
    message:
      'This is not the file that was begun with: its bytes differ. Choose that file, or remove the upload and begin anew.',
    canResume: false,
  },
  401: { message: 'You are signed out. Sign in in another tab, then resume here.', canResume: true },
  403: { message: 'You are signed out, or may not upload here. Reload the page.', canResume: true },
  404: { message: 'The upload is gone. Begin anew.', canResume: false },
  410: { message: 'The upload was open for more than a day and has expired. Begin anew.', canResume: false },
  413: { message: 'The file is too large.', canResume: false },
  429: { message: 'Too many uploads are open. Finish or remove one of them, then resume.', canResume: true },
  507: { message: "The server's disk is nearly full. Tell its administrator, then resume.", canResume: true },
}

const units = ['bytes', 'KB', 'MB', 'GB']

export function sizeInWords(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
  const amount = bytes / 1024 ** power
  const shown = power === 0 || amount >= 100 ? Math.round(amount) : Number(amount.toFixed(1))
  return `${shown} ${units[power]}`
}

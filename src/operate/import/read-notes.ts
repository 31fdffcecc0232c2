import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { extractPictures, withoutPictureBytes } from '../../markdown/rewrite/embedded-pictures.ts'
import { type Decoded, decodeText } from '../../sources/extract/decode-text.ts'
import { type NoteOptions, type Notice, readNote } from './import-note.ts'
import { maxNoteBytes, type PlannedFile, type ReadNote, type Skipped } from './import-plan.ts'

export type NoteNotice = { path: string } & Notice

const notesAtOnce = { files: 1_000, bytes: 8 * 1024 * 1024 }

export type NotesRead = { notes: ReadNote[]; notices: NoteNotice[]; skipped: Skipped[] }

/** Groups files into batches that fit in memory and in one commit. @param limits of a batch with several files */
export function* fileBatches(files: readonly PlannedFile[], limits = notesAtOnce): Generator<PlannedFile[]> {
  let batch: PlannedFile[] = []
  let bytes = 0
  for (const file of files) {
    if (batch.length > 0 && (batch.length >= limits.files || bytes + file.size > limits.bytes)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(file)
    bytes += file.size
  }
  if (batch.length > 0) yield batch
}

export type ReadOptions = NoteOptions & {
  parser: ParserPool
  /** Converts a file's text to the form of the knowledge base; `undefined` if it cannot be parsed. */
  convert?: ((text: string) => Promise<string | undefined>) | undefined
}

/** Reads notes from the disk. A note that cannot be read, or is too large as UTF-8, is skipped with the reason. */
export async function readNotes(files: readonly PlannedFile[], options: ReadOptions): Promise<NotesRead> {
  const read: NotesRead = { notes: [], notices: [], skipped: [] }
  for (const result of await Promise.all(files.map((file) => readPlanned(file, options)))) {
    if ('reason' in result) {
      read.skipped.push(result)
      continue
    }
    const { note, origin: path } = result
    read.notes.push(result)
    read.notices.push(...note.notices.map((notice) => ({ path, ...notice })))
  }
  return read
}

async function readPlanned(file: PlannedFile, options: ReadOptions): Promise<ReadNote | Skipped> {
  const skip = (reason: string): Skipped => ({ path: file.origin, reason })
  const bytes = await readFile(file.absolute).catch(() => undefined)
  if (bytes === undefined) return skip('cannot be read')
  const utf8 = decodeUtf8(bytes)
  const other = utf8 === undefined ? decodeOther(bytes) : undefined
  const decoded = utf8 ?? other?.text
  if (decoded === undefined) return skip('is not text')
  const { text, pictures } = await extractPictures(options.parser, decoded)
  if (Buffer.byteLength(text) > maxNoteBytes) {
    const isText = Buffer.byteLength(withoutPictureBytes(text)) > maxNoteBytes
    const reason = `is larger than ${maxNoteBytes / 1024} KB`
    return skip(
      isText ? reason : `${reason} with the pictures in its text: those in code, or of more than 2 MB, become no files`,
    )
  }
  const converted = options.convert === undefined ? text : await options.convert(text)
  const note = readNote(file.origin, converted ?? text, options)
  if (converted === undefined) note.notices.unshift({ line: 1, message: 'The note cannot be parsed: its links stay.' })
  if (other !== undefined) note.notices.unshift({ line: 1, message: conversionNotice(other) })
  return { ...file, note, pictures, sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** Returns the text without its byte order mark; `undefined` if the bytes are not UTF-8. */
function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

/** Decodes text in another encoding, which is detected; `undefined` if the bytes are not text. */
function decodeOther(bytes: Buffer): Decoded | undefined {
  try {
    const decoded = decodeText(bytes)
    return /[\0\uFFFD]/.test(decoded.text) ? undefined : decoded
  } catch {
    return undefined
  }
}

function conversionNotice({ encoding, isDoubtful }: Decoded): string {
  const doubt = isDoubtful ? ` It was read as ${encoding}, and letters may be wrong.` : ''
  return `The note was converted to UTF-8.${doubt}`
}

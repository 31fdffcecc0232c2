import { z } from 'zod'
import { WellFormed } from './candidates.ts'
import { Cursor, PageLimit, Switch } from './envelope.ts'
import { Timestamp, Uuid } from './identifiers.ts'

/** Extensions without dot: of files that are text, of all that every knowledge base takes, and of those that `kb.yaml` may add. */
export const textFileTypes = ['md', 'txt', 'html', 'htm', 'csv'] as const
export const defaultFileTypes = [
  ...['pdf', 'docx', 'pptx', 'xlsx', 'doc', 'ppt', 'xls'],
  ...['png', 'jpg', 'jpeg', 'webp', 'gif', 'svg'],
  ...['wav', 'mp3', 'm4a', 'ogg', 'flac', 'aac'],
  ...textFileTypes,
] as const
const optionalFileTypes = [
  ...['odt', 'ods', 'odp', 'docm', 'xlsm', 'pptm', 'rtf', 'epub'],
  ...['eml', 'ipynb', 'vtt', 'srt', 'tsv', 'json', 'xml'],
  ...['tif', 'tiff', 'bmp', 'mp4'],
] as const
export const fileTypes = [...defaultFileTypes, ...optionalFileTypes] as const

/** Bytes of a file in one request, and of one in chunks. */
export const maxUploadBytes = 100 * 1024 * 1024
export const maxChunkedBytes = 2 * 1024 * 1024 * 1024
/** Bytes of one chunk. */
export const maxChunkBytes = 8 * 1024 * 1024

export const SourceStatus = z.enum(['pending', 'ready', 'processing', 'success', 'failed'])
export type SourceStatus = z.infer<typeof SourceStatus>

const textTypes: ReadonlySet<string> = new Set(textFileTypes)

/** Status of a Source that waits for its text to be read. Files that are text have it from the first. */
export function unreadStatus(fileType: string): 'pending' | 'ready' {
  return textTypes.has(fileType) ? 'ready' : 'pending'
}

const documentId = '019b9c9b-2f10-7a3c-b1d2-4e5f6a7b8c9d'
const sha256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal')

export const Source = z
  .object({
    id: z.uuid().describe('Document id.'),
    knowledgeBaseId: z.uuid(),
    kind: z.literal('source'),
    filename: z.string(),
    path: z.string().describe("Folder in the knowledge base's tree of Sources; `/` is its root."),
    fileType: z.enum(fileTypes).describe('The extension, without dot, in lower case.'),
    fileSize: z.int().nonnegative().describe('Bytes.'),
    status: SourceStatus,
    errorMessage: z.string().nullable().describe('Why it failed, for people.'),
    seq: z.int().positive().describe('Number within the knowledge base.'),
    contentHash: Sha256.describe('SHA-256 of the bytes.'),
    tags: z.string().nullable().describe('Separated by commas.'),
    warnings: z
      .array(z.string())
      .describe('What its last ingest lost, or did another way than it was set to: for people.')
      .exactOptional(),
    createdAt: Timestamp,
  })
  .meta({
    id: 'Source',
    description: 'The uploaded file.',
    examples: [
      {
        id: documentId,
        knowledgeBaseId: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
        kind: 'source',
        filename: 'vip.pdf',
        path: '/policies',
        fileType: 'pdf',
        fileSize: 81_920,
        status: 'pending',
        errorMessage: null,
        seq: 7,
        contentHash: sha256,
        tags: 'policy,vip',
        createdAt: '2026-01-08T09:12:44.000Z',
      },
    ],
  })
export type Source = z.infer<typeof Source>

export const SourceDetail = Source.extend({
  connector: z.string().describe('Where it came from: `upload`, or what its metadata says.'),
  sourceUrl: z.string().nullable(),
  metadata: z.string().nullable().describe('The text of a JSON object, as uploaded.'),
  archivedAt: Timestamp.nullable().describe(
    'Since when it is archived: its Neurons stay, and its bytes may be uploaded again.',
  ),
}).meta({ id: 'SourceDetail', description: 'The Source, as a curator reads it.' })
export type SourceDetail = z.infer<typeof SourceDetail>

export const SourceQuery = z.object({
  status: SourceStatus.exactOptional(),
  cursor: Cursor.describe('`nextCursor` of the page before.').exactOptional(),
  limit: PageLimit.describe('1 to 100; 50 without it.'),
})
export type SourceQuery = z.output<typeof SourceQuery>

export const SourcePage = z
  .object({
    documents: z.array(Source).describe('The newest first, without those that are archived.'),
    nextCursor: z.string().nullable().describe('Null on the last page.'),
  })
  .meta({ id: 'SourcePage', description: 'A page of the Sources of a knowledge base.' })
export type SourcePage = z.infer<typeof SourcePage>

export const DocumentPath = z.object({ docId: Uuid.describe('Id of the Source.') })

export const UploadQuery = z.object({
  force: Switch.describe('`true` takes a file whose bytes the knowledge base has already, as another Source.')
    .meta({ type: 'boolean' })
    .default(false),
  replace: Switch.describe(
    '`true` makes it the next edition of the newest Source of the same name in the same `path`, whose Neurons it takes over; one of its own where there is none.',
  )
    .meta({ type: 'boolean' })
    .default(false),
})
export type UploadQuery = z.output<typeof UploadQuery>

export const DuplicateSource = z
  .object({
    error: z.string().describe('For a person.'),
    code: z.literal('duplicate_source'),
    existingDocumentId: z.uuid(),
    existingFilename: z.string(),
    existingPath: z.string(),
    existingCreatedAt: Timestamp,
    hint: z.string(),
  })
  .meta({
    id: 'DuplicateSource',
    description: 'The knowledge base has a Source of the same bytes.',
    examples: [
      {
        error: 'The same bytes were uploaded as vip.pdf.',
        code: 'duplicate_source',
        existingDocumentId: documentId,
        existingFilename: 'vip.pdf',
        existingPath: '/policies',
        existingCreatedAt: '2026-01-08T09:12:44.000Z',
        hint: 'Append ?force=true to upload it anyway, as a separate Source.',
      },
    ],
  })

/** The parts of a form that uploads a file, for the description of the API: the form itself is read as it streams. */
export const UploadForm = z
  .object({
    file: z
      .string()
      .meta({ contentMediaType: 'application/octet-stream' })
      .describe(
        'The bytes; at most 100 MB. Every knowledge base takes ' +
          `${defaultFileTypes.join(', ')}; its settings may allow ${optionalFileTypes.join(', ')}.`,
      ),
    path: z.string().describe('Folder in the tree of Sources; `/` without it.').exactOptional(),
    metadata: z
      .string()
      .describe('The text of a JSON object: `connector`, `sourceUrl`, `tags` (an array of strings), …')
      .exactOptional(),
  })
  .meta({ id: 'UploadForm' })

export const UploadInput = z
  .object({
    filename: WellFormed,
    fileSize: z.int().nonnegative().describe('Bytes; at most 2 GB.'),
    contentHash: z
      .string()
      .toLowerCase()
      .pipe(Sha256)
      .describe('SHA-256 of the whole file, which is then checked.')
      .exactOptional(),
    path: WellFormed.describe('Folder in the tree of Sources.').default('/'),
    metadata: z
      .union([z.string(), z.record(z.string(), z.unknown())], { error: 'must be a JSON object, or the text of one' })
      .nullable()
      .default(null)
      .describe('As in an upload; an object is taken as well.'),
  })
  .meta({ id: 'UploadInput', examples: [{ filename: 'talk.wav', fileSize: 734_003_200, contentHash: sha256 }] })
export type UploadInput = z.output<typeof UploadInput>

export const UploadTicket = z
  .object({
    uploadId: z.uuid(),
    chunkSize: z.int().positive().describe('Bytes that a chunk may have.'),
    expiresAt: Timestamp,
  })
  .meta({ id: 'UploadTicket', description: 'Where the chunks go.' })
export type UploadTicket = z.infer<typeof UploadTicket>

export const UploadPath = z.object({ uploadId: Uuid })

export const UploadProgress = z
  .object({ uploadId: z.uuid(), bytesReceived: z.int().nonnegative().describe('Where the next chunk begins.') })
  .meta({ id: 'UploadProgress', description: 'How far the upload is.' })
export type UploadProgress = z.infer<typeof UploadProgress>

export const UploadStatus = UploadProgress.extend({
  filename: z.string(),
  fileSize: z.int().nonnegative(),
  status: z.enum(['open', 'finalized']),
  expiresAt: Timestamp,
}).meta({ id: 'UploadStatus', description: 'The upload.' })
export type UploadStatus = z.infer<typeof UploadStatus>

/** Header of a chunk, as in RFC 9110, section 14.4. */
export const ContentRange = z.looseObject({
  'content-range': z.string().max(100).describe('`bytes a-b/total`: where the chunk belongs.'),
})

export const IngestReceipt = z
  .object({ ok: z.boolean(), message: z.string() })
  .meta({ id: 'IngestReceipt', description: 'The ingest begins.' })
export type IngestReceipt = z.infer<typeof IngestReceipt>

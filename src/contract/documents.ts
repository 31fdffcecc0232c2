import { z } from 'zod'
import { WellFormed } from './candidates.ts'
import { Cursor, NextCursor, PageLimit, Switch } from './envelope.ts'
import { KbUuid, Timestamp, Uuid } from './identifiers.ts'
import { SeqId } from './vocabulary.ts'

/** File extensions without the dot: of text files, of files that every knowledge base accepts, and of those that `kb.yaml` can add. */
export const textFileTypes = ['md', 'txt', 'html', 'htm', 'csv'] as const
export const defaultFileTypes = [
  ...['pdf', 'docx', 'pptx', 'xlsx', 'doc', 'ppt', 'xls'],
  ...['png', 'jpg', 'jpeg', 'webp', 'gif', 'svg'],
  ...['wav', 'mp3', 'm4a', 'ogg', 'flac', 'aac'],
  ...textFileTypes,
] as const
const optionalFileTypes = [...['odt', 'ods', 'odp', 'docm', 'xlsm', 'pptm', 'rtf'], ...['eml', 'tsv', 'mp4']] as const
export const fileTypes = [...defaultFileTypes, ...optionalFileTypes] as const

/** Maximum bytes of a file in one request, and of a file in chunks. */
export const maxUploadBytes = 100 * 1024 * 1024
export const maxChunkedBytes = 2 * 1024 * 1024 * 1024
/** Maximum bytes of a chunk. */
export const maxChunkBytes = 8 * 1024 * 1024

export const SourceStatus = z
  .enum(['pending', 'ready', 'processing', 'success', 'failed'])
  .describe(
    '`pending`, `ready`: waits for its ingest. `processing`: the ingest runs. `success`, `failed`: it has ended.',
  )
export type SourceStatus = z.infer<typeof SourceStatus>

const textTypes: ReadonlySet<string> = new Set(textFileTypes)

/** Status of a Source before its ingest: `ready` for a text file, whose text needs no extraction. */
export function unreadStatus(fileType: string): 'pending' | 'ready' {
  return textTypes.has(fileType) ? 'ready' : 'pending'
}

const documentId = '019b9c9b-2f10-7a3c-b1d2-4e5f6a7b8c9d'
const sha256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal')

const example = {
  ...{ id: documentId, knowledgeBaseId: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f', kind: 'source', filename: 'vip.pdf' },
  ...{ path: '/policies', fileType: 'pdf', fileSize: 81_920, status: 'pending', errorMessage: null, seq: 7 },
  ...{ contentHash: sha256, tags: 'policy,vip', createdAt: '2026-01-08T09:12:44.000Z' },
}

export const SourceAnswer = z
  .object({
    id: z.uuid().describe('UUID of the Source.'),
    knowledgeBaseId: KbUuid,
    kind: z.literal('source').describe('Always `source`.'),
    filename: z.string().describe('Name of the uploaded file.'),
    path: z.string().describe('Folder in the tree of Sources; `/` is its root.'),
    fileType: z.enum(fileTypes).describe('File extension in lower case, without the dot.'),
    fileSize: z.int().nonnegative().describe('Size in bytes.'),
    status: SourceStatus,
    errorMessage: z.string().nullable().describe('Cause of a failed ingest, for a person. Null otherwise.'),
    seq: z.int().positive().describe('Number of the Source in the knowledge base; starts at 1.'),
    contentHash: Sha256.describe('SHA-256 of the bytes, in hexadecimal.'),
    tags: z.string().nullable().describe('Tags, separated by commas.'),
    warnings: z
      .array(z.string())
      .describe('Sentences on what the last ingest lost or did differently. Absent if there are none.')
      .exactOptional(),
    createdAt: Timestamp.describe('Time of the upload.'),
  })
  .meta({ id: 'Source', description: 'An uploaded file.', examples: [example] })
export type SourceAnswer = z.infer<typeof SourceAnswer>

export const SourceDetail = SourceAnswer.extend({
  connector: z.string().describe('`connector` of the metadata; `upload` without one.'),
  sourceUrl: z.string().nullable().describe('`sourceUrl` of the metadata.'),
  metadata: z.string().nullable().describe('Metadata as uploaded: the text of a JSON object.'),
  archivedAt: Timestamp.nullable().describe('Time when the Source was archived. Null if it is not.'),
}).meta({
  id: 'SourceDetail',
  description: 'A Source with its origin.',
  examples: [
    { ...example, connector: 'upload', sourceUrl: null, metadata: '{"tags":["policy","vip"]}', archivedAt: null },
  ],
})
export type SourceDetail = z.infer<typeof SourceDetail>

export const SourceQuery = z.object({
  status: SourceStatus.describe('Only Sources with this status.').exactOptional(),
  cursor: Cursor.exactOptional(),
  limit: PageLimit,
})
export type SourceQuery = z.output<typeof SourceQuery>

export const SourcePage = z
  .object({
    documents: z.array(SourceAnswer).describe('Sources that are not archived, newest first.'),
    nextCursor: NextCursor,
  })
  .meta({
    id: 'SourcePage',
    description: 'A page of the Sources of a knowledge base.',
    examples: [{ documents: [example], nextCursor: null }],
  })
export type SourcePage = z.infer<typeof SourcePage>

export const DocumentPath = z.object({ docId: Uuid.describe('UUID of the Source.') })

export const UploadQuery = z.object({
  force: Switch.describe(
    '`true`: accept bytes that the knowledge base already has, as another Source. Default: `false`.',
  )
    .meta({ type: 'boolean' })
    .default(false),
  replace: Switch.describe(
    '`true`: store the file as the next edition of the newest Source with the same name and `path`, and update its Neurons. Without ' +
      'such a Source, the file becomes a new one. Default: `false`.',
  )
    .meta({ type: 'boolean' })
    .default(false),
})
export type UploadQuery = z.output<typeof UploadQuery>

export const DuplicateSource = z
  .object({
    error: z.string().describe('Message for a person; the wording may change.'),
    code: z.literal('duplicate_source').describe('Stable code of the error.'),
    existingDocumentId: z.uuid().describe('UUID of the existing Source.'),
    existingFilename: z.string().describe('File name of the existing Source.'),
    existingPath: z.string().describe('Folder of the existing Source.'),
    existingCreatedAt: Timestamp.describe('Time when the existing Source was uploaded.'),
    hint: z.string().describe('How to upload the bytes anyway, for a person.'),
  })
  .meta({
    id: 'DuplicateSource',
    description: '`duplicate_source`: The knowledge base already has a Source with the same bytes.',
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

/** Parts of an upload form. Only for the description of the API: the form is read as a stream. */
export const UploadForm = z
  .object({
    file: z
      .string()
      .meta({ contentMediaType: 'application/octet-stream' })
      .describe(
        'The file; at most 100 MB. Every knowledge base accepts ' +
          `${defaultFileTypes.join(', ')}. Its settings can also allow ${optionalFileTypes.join(', ')}.`,
      ),
    path: z.string().describe('Folder in the tree of Sources. Default: `/`.').exactOptional(),
    metadata: z
      .string()
      .describe('Text of a JSON object. Known keys: `connector`, `sourceUrl`, `tags` (an array of strings).')
      .exactOptional(),
  })
  .meta({
    id: 'UploadForm',
    description: 'A form with a file.',
    examples: [{ file: 'Open from nine to five.', path: '/policies', metadata: '{"tags":["policy"]}' }],
  })

export const UploadInput = z
  .object({
    filename: WellFormed.describe('Name of the file, with its extension.'),
    fileSize: z.int().positive().describe('Size of the whole file in bytes; at most 2 GB.'),
    contentHash: z
      .string()
      .toLowerCase()
      .pipe(Sha256)
      .describe('SHA-256 of the whole file, in hexadecimal. `finalize` checks it.')
      .exactOptional(),
    path: WellFormed.describe('Folder in the tree of Sources.').default('/'),
    metadata: z
      .union([z.string(), z.record(z.string(), z.unknown())], { error: 'must be a JSON object, or the text of one' })
      .nullable()
      .default(null)
      .describe('JSON object, or the text of one. Known keys: `connector`, `sourceUrl`, `tags` (an array of strings).'),
  })
  .meta({
    id: 'UploadInput',
    description: 'The file to upload.',
    examples: [{ filename: 'talk.wav', fileSize: 734_003_200, contentHash: sha256 }],
  })
export type UploadInput = z.output<typeof UploadInput>

const UploadId = z.uuid().describe('UUID of the upload, and of the Source that it becomes.')
const ExpiresAt = Timestamp.describe('Time when the upload expires: 24 hours after its start.')
const uploadId = '019b9c9c-7a20-7b41-9f0e-1c2d3e4f5a6b'
const expiresAt = '2026-01-09T09:12:44.000Z'

export const UploadTicket = z
  .object({
    uploadId: UploadId,
    chunkSize: z.int().positive().describe('Maximum size of a chunk in bytes.'),
    expiresAt: ExpiresAt,
  })
  .meta({
    id: 'UploadTicket',
    description: 'The started upload.',
    examples: [{ uploadId, chunkSize: maxChunkBytes, expiresAt }],
  })
export type UploadTicket = z.infer<typeof UploadTicket>

export const UploadPath = z.object({ uploadId: Uuid.describe('UUID of the upload.') })

export const UploadProgress = z
  .object({
    uploadId: UploadId,
    bytesReceived: z.int().nonnegative().describe('Number of bytes received: the offset of the next chunk.'),
  })
  .meta({
    id: 'UploadProgress',
    description: 'The progress of the upload.',
    examples: [{ uploadId, bytesReceived: maxChunkBytes }],
  })
export type UploadProgress = z.infer<typeof UploadProgress>

export const UploadStatus = UploadProgress.extend({
  filename: z.string().describe('Name of the file.'),
  fileSize: z.int().nonnegative().describe('Size of the whole file in bytes.'),
  status: z.enum(['open', 'finalized']).describe('`open`: accepts chunks. `finalized`: has become a Source.'),
  expiresAt: ExpiresAt,
}).meta({
  id: 'UploadStatus',
  description: 'The state of the upload.',
  examples: [
    { uploadId, bytesReceived: maxChunkBytes, filename: 'talk.wav', fileSize: 734_003_200, status: 'open', expiresAt },
  ],
})
export type UploadStatus = z.infer<typeof UploadStatus>

/** Header of a chunk, as in RFC 9110, section 14.4. */
export const ContentRange = z.looseObject({
  'content-range': z
    .string()
    .max(100)
    .describe('Position of the chunk: `bytes first-last/total`; `first` starts at 0.'),
})

export const IngestReceipt = z
  .object({
    ok: z.boolean().describe('Always `true`.'),
    message: z
      .string()
      .describe('Message for a person: whether an ingest begins, or that of the upload is already queued.'),
  })
  .meta({
    id: 'IngestReceipt',
    description: 'The ingest is queued.',
    examples: [{ ok: true, message: 'The ingest of vip.pdf begins.' }],
  })

/** Bytes of a file, in a response. */
export const FileBytes = z
  .string()
  .meta({ description: 'The bytes of the file.', examples: ['Open from nine to five.'] })
export type IngestReceipt = z.infer<typeof IngestReceipt>

export const SentSourcePage = SourcePage.extend({
  documents: z
    .array(SourceAnswer)
    .describe('Sources that the caller uploaded and that are not archived, newest first.'),
}).meta({
  id: 'SentSourcePage',
  description: 'A page of the Sources that the caller uploaded.',
  examples: [{ documents: [example], nextCursor: null }],
})

export const SentSource = SourceAnswer.extend({
  archivedAt: SourceDetail.shape.archivedAt,
  neurons: z
    .array(z.object({ seqId: SeqId, title: z.string().describe('Title of the Neuron.') }))
    .describe('Neurons that were made of it and that the caller may see: at most 100.'),
  neuronCount: z.int().nonnegative().describe('Number of all these Neurons.'),
  candidateCount: z.int().nonnegative().describe('Number of candidates made of it that wait for a curator.'),
}).meta({
  id: 'SentSource',
  description: 'A Source that the caller uploaded, and what became of it.',
  examples: [
    {
      ...{ ...example, status: 'success', archivedAt: null, neuronCount: 1, candidateCount: 0 },
      neurons: [{ seqId: 'handbook_00000042', title: 'VIP escalation policy' }],
    },
  ],
})
export type SentSource = z.infer<typeof SentSource>

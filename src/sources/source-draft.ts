import { extname } from 'node:path'
import { z } from 'zod'
import { fileTypes, type SourceAnswer } from '../contract/documents.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { parseMetadata, readMetadata } from '../rules/candidates/metadata.ts'
import type { FileType } from '../rules/kb-settings.ts'
import { pathProblem } from '../rules/paths/portable-path.ts'

/** Metadata from the uploader of a file. */
export type SourceDraft = {
  filename: string
  fileType: SourceAnswer['fileType']
  path: string
  metadata: string | null
  connector: string
  sourceUrl: string | null
  /** Tags, separated by commas. */
  tags: string | null
}

const AnyFileType = z.enum(fileTypes)
const maxNameBytes = 255
const defaultConnector = 'upload'
/** Matches characters that would break a line or reverse its direction when the name is shown. */
const unsafe = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

/**
 * Parses a file name, and the type from its extension.
 * @param field name of the request's field, for messages
 * @param types that the knowledge base accepts
 * @throws {ValidationError} for an invalid name
 * @throws {GanglionError} `file_type_not_allowed`
 */
export function readFilename(
  name: string,
  field: string,
  types: ReadonlySet<FileType>,
): Pick<SourceDraft, 'filename' | 'fileType'> {
  const filename = name.normalize('NFC')
  if (Buffer.byteLength(filename) > maxNameBytes) {
    throw new ValidationError({ [field]: [`The file's name must be at most ${maxNameBytes} bytes.`] })
  }
  if (unsafe.test(filename) || /[/\\]/.test(filename)) {
    throw new ValidationError({ [field]: ["The file's name must not hold slashes or control characters."] })
  }
  const extension = extname(filename).slice(1).toLowerCase()
  const { data: fileType } = AnyFileType.safeParse(extension)
  if (fileType === undefined || !types.has(fileType)) throw typeNotAllowed(extension, types)
  return { filename, fileType }
}

function typeNotAllowed(extension: string, types: ReadonlySet<FileType>): GanglionError {
  const isOptional = AnyFileType.safeParse(extension).success
  const advice = isOptional ? ` A curator can allow .${extension} under sources.types in kb.yaml.` : ''
  const allowedTypes = [...types].toSorted()
  const message = `Files of these types are taken: ${allowedTypes.join(', ')}.${advice}`
  return new GanglionError('file_type_not_allowed', `File type .${extension} not allowed`, { message, allowedTypes })
}

/** Parses a folder in the tree of Sources; absolute. @throws {ValidationError} for a path that is not portable */
export function readPath(path: unknown): string {
  if (typeof path !== 'string') throw new ValidationError({ path: ['must be text'] })
  const folder = path.normalize('NFC').replace(/^\/+|\/+$/g, '')
  const problem = folder === '' ? undefined : pathProblem(folder)
  if (problem !== undefined) throw new ValidationError({ path: [problem] })
  return `/${folder}`
}

/** Reads the origin of a file and its tags from the upload. @throws {ValidationError} */
export function readSourceMetadata(
  metadata: unknown,
): Pick<SourceDraft, 'metadata' | 'connector' | 'sourceUrl' | 'tags'> {
  const isObject = typeof metadata === 'object' && metadata !== null
  if (!isObject && typeof metadata !== 'string' && metadata !== null) {
    throw new ValidationError({ metadata: ['must be a JSON object'] })
  }
  const { text, data } = parseMetadata(metadata)
  const { connector = defaultConnector, sourceUrl = null, tags } = readMetadata(data)
  return { metadata: text, connector, sourceUrl, tags: tags.length === 0 ? null : tags.join(',') }
}

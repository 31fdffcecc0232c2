import { createHash } from 'node:crypto'
import type { FileContents } from '../kb/knowledge-base.ts'
import { isBlocked } from '../kb/projection/file-queries.ts'
import type { MainTables } from '../kb/projection/projection.ts'
import { slugify } from '../rules/paths/slug.ts'

/** A picture in Markdown with its bytes as its address. Its name holds no bracket: else many that begin and never end take minutes. */
const embedded = /!\[([^[\]\n]*)\]\(data:image\/(png|jpeg|gif|webp|avif);base64,([a-z0-9+/]{40,}={0,2})(?=[\s)])/gi

/** The files of an approval, with the pictures that stand in the text of its page as files beside that, which the text names. */
export function takePictures(sql: MainTables, path: string, files: ReadonlyMap<string, string | null>): FileContents {
  const taken = new Map<string, string | Buffer | null>(files)
  const text = files.get(path)?.replace(embedded, (all, alt: string, type: string, base64: string) => {
    const bytes = Buffer.from(base64, 'base64')
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
    const name = `attachments/${slugify(alt.trim() || 'picture', 40)}-${hash}.${type.toLowerCase().replace('jpeg', 'jpg')}`
    const file = path.slice(0, path.lastIndexOf('/') + 1) + name
    if (isBlocked(sql, file, file)) return all
    taken.set(file, bytes)
    return `![${alt}](${name}`
  })
  return text === undefined ? taken : taken.set(path, text)
}

import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { ExtractionError } from '../../extracted.ts'
import { zipLimits } from '../extract-limits.ts'
import { child, parseXml, type XmlElement } from '../xml.ts'

const maxTitle = 300
/** Titles that programs write if the author gave none. */
const unnamed =
  /^(?:(?:PowerPoint|Microsoft PowerPoint) .*|(?:slide|folie|document|dokument|workbook) ?1?|untitled|presentation)$/i

/** Matches parts in XML, and embedded documents that belong to the text. */
const readable = /\.(?:xml|rels|x?html?|mht(?:ml)?|txt|docx|dat)$/i

export type Relationship = {
  id: string
  /** The last word of its URI, such as `slide`. */
  type: string
  /** Name of a part, or the URL of an external target. */
  target: string
  external: boolean
}

/** The parts of an Office Open XML document (ECMA-376 Part 2), under names without a leading slash. */
export class OfficePackage {
  readonly #parts: ReadonlyMap<string, Buffer>

  private constructor(parts: ReadonlyMap<string, Buffer>) {
    this.#parts = parts
  }

  /**
   * Opens a package. @param file absolute path, or the bytes of a document in another one
   * @param isNeeded returns true for parts to read
   * @throws {ExtractionError}
   */
  static async open(file: string | Buffer, isNeeded: (name: string) => boolean): Promise<OfficePackage> {
    const parts = await readZip(file, (name) => readable.test(name) && isNeeded(name))
    return new OfficePackage(new Map(Array.from(parts, ([name, bytes]) => [keyOf(name), bytes])))
  }

  /** Returns a part by its name in a relationship, which ignores case. */
  part(name: string): Buffer | undefined {
    return this.#parts.get(keyOf(name))
  }

  xml(name: string): XmlElement | undefined {
    const part = this.part(name)
    return part && parseXml(part)
  }

  /** Returns the relationships of a part, or of the package without a name. */
  relationships(name = ''): Relationship[] {
    const folder = posix.dirname(name)
    const list = this.xml(posix.join(folder, '_rels', `${posix.basename(name)}.rels`))
    return (list?.children ?? []).map(({ attributes }) => {
      const external = attributes.TargetMode === 'External'
      const target = attributes.Target ?? ''
      return {
        id: attributes.Id ?? '',
        type: posix.basename(attributes.Type ?? ''),
        target: external ? target : posix.resolve('/', folder, target).slice(1),
        external,
      }
    })
  }

  /** Returns the name of the main part. @throws {ExtractionError} `wrong-type` */
  main(): string {
    const main = this.relationships().find(({ type }) => type === 'officeDocument')
    if (main === undefined || this.part(main.target) === undefined) {
      throw new ExtractionError('wrong-type', 'The content of the document is not what its extension says.')
    }
    return main.target
  }

  title(): string | undefined {
    const properties = this.relationships().find(({ type }) => type === 'core-properties')
    const title = properties && child(this.xml(properties.target), 'title')?.text.replace(/\s+/g, ' ').trim()
    return title === undefined || title === '' || unnamed.test(title) ? undefined : title.slice(0, maxTitle)
  }
}

function keyOf(name: string): string {
  return name.replace(/^\//, '').toLowerCase()
}

/** Minimum bytes for which the compression ratio is checked: even a blank sheet may be packed very tightly. */
const ratioCountsFrom = 10 * 2 ** 20
const endSignature = Buffer.from('PK\x05\x06', 'latin1')
const endSize = 22
/** Maximum bytes from the end of a file within which an archive must end; a comment may take 64 KB of them. */
const maxTrailingBytes = 2 ** 20
const compoundFile = Buffer.from('d0cf11e0a1b11ae1', 'hex')

/**
 * Inflates a whole archive, counting the actual output, not the sizes in its directory, and returns the requested entries by name. Must be
 * called before an archive is passed to a library that inflates it.
 * @throws {ExtractionError} `wrong-type`, `encrypted`, `corrupt`, `too-large`
 */
export async function readZip(
  file: string | Buffer,
  isWanted: (name: string) => boolean = () => false,
): Promise<Map<string, Buffer>> {
  const bytes = withoutTrailingBytes(typeof file === 'string' ? await readFile(file) : file)
  checkSignature(bytes)
  try {
    return await readEntries(await fromBufferPromise(bytes, { lazyEntries: true }), bytes.length, isWanted)
  } catch (cause) {
    if (cause instanceof ExtractionError) throw cause
    throw new ExtractionError('corrupt', 'The document is damaged: its archive cannot be read.', { cause })
  }
}

/** Removes bytes after the end of an archive (APPNOTE 4.3.16), which downloads and mail programs append. */
function withoutTrailingBytes(bytes: Buffer): Buffer {
  const first = Math.max(0, bytes.length - maxTrailingBytes)
  for (let at = bytes.lastIndexOf(endSignature); at >= first; at = bytes.lastIndexOf(endSignature, at - 1)) {
    if (at + endSize > bytes.length) continue
    const end = at + endSize + bytes.readUInt16LE(at + 20)
    const directory = bytes.readUInt32LE(at + 12) + bytes.readUInt32LE(at + 16)
    if (end <= bytes.length && directory <= at) return bytes.subarray(0, end)
    if (at === 0) break
  }
  return bytes
}

/** Checks the first bytes. Microsoft's encryption wraps a document into the container of the formats before 2007. */
function checkSignature(bytes: Buffer): void {
  if (bytes.subarray(0, compoundFile.length).equals(compoundFile)) {
    const message = 'The document is password-protected, or of a format before 2007: save it without, as a new format.'
    throw new ExtractionError('encrypted', message)
  }
  if (bytes.toString('latin1', 0, 2) !== 'PK') {
    throw new ExtractionError('wrong-type', 'The content of the document is not what its extension says.')
  }
}

async function readEntries(
  zip: ZipFile,
  size: number,
  isWanted: (name: string) => boolean,
): Promise<Map<string, Buffer>> {
  const { entries, inflatedBytes, ratio } = zipLimits
  if (zip.entryCount > entries) throw bomb(`more than ${entries} files`)
  const largest = Math.min(inflatedBytes, Math.max(ratioCountsFrom, size * ratio))
  const wanted = new Map<string, Buffer>()
  let count = 0
  let inflated = 0
  for await (const entry of zip.eachEntry() as AsyncIterable<Entry>) {
    if (++count > entries) throw bomb(`more than ${entries} files`)
    if (entry.fileName.endsWith('/')) continue
    if (entry.isEncrypted()) throw new ExtractionError('encrypted', 'The document is password-protected.')
    const chunks: Buffer[] = []
    const keeps = isWanted(entry.fileName)
    for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      inflated += chunk.length
      if (inflated > largest) throw bomb(`more than ${Math.floor(largest / 2 ** 20)} MB`)
      if (keeps) chunks.push(chunk)
    }
    if (keeps) wanted.set(entry.fileName, Buffer.concat(chunks))
  }
  return wanted
}

function bomb(what: string): ExtractionError {
  return new ExtractionError('too-large', `The document unpacks to ${what}: it may be damaged, or made to do harm.`)
}

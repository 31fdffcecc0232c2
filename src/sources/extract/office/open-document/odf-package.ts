import { ExtractionError } from '../../../extracted.ts'
import { child, descendants, parseXml, scanXml, type XmlElement, type XmlEvents } from '../../xml.ts'
import { readZip } from '../../zip-guard.ts'

/** The parts of an OpenDocument file (ISO/IEC 26300-3) that are read. */
export class OdfPackage {
  readonly #parts: ReadonlyMap<string, Buffer>

  private constructor(parts: ReadonlyMap<string, Buffer>) {
    this.#parts = parts
  }

  /**
   * @param kind what it has to be, as its body calls it
   * @throws {ExtractionError} `wrong-type`, `encrypted`, `corrupt`, `too-large`
   */
  static async open(file: string, kind: 'text' | 'spreadsheet' | 'presentation'): Promise<OdfPackage> {
    const names = new Set(['content.xml', 'styles.xml', 'meta.xml', 'META-INF/manifest.xml', 'mimetype'])
    const parts = await readZip(file, (name) => names.has(name))
    const manifest = parts.get('META-INF/manifest.xml')
    if (manifest !== undefined && descendants(parseXml(manifest), 'encryption-data').length > 0) {
      throw new ExtractionError('encrypted', 'The document is password-protected.')
    }
    const type = parts.get('mimetype')?.toString('latin1') ?? ''
    if (!parts.has('content.xml') || !type.startsWith(`application/vnd.oasis.opendocument.${kind}`)) {
      throw new ExtractionError('wrong-type', 'The content of the document is not what its extension says.')
    }
    return new OdfPackage(parts)
  }

  /** Streams the content. */
  scan(events: XmlEvents): void {
    scanXml(this.#part('content.xml'), events)
  }

  content(): XmlElement {
    return parseXml(this.#part('content.xml'))
  }

  /** The common styles, which the styles of the content are based on; undefined where there are none. */
  styles(): XmlElement | undefined {
    return this.#parts.has('styles.xml') ? parseXml(this.#part('styles.xml')) : undefined
  }

  title(): string | undefined {
    const meta = this.#parts.has('meta.xml') ? parseXml(this.#part('meta.xml')) : undefined
    return child(meta, 'meta', 'title')?.text.replace(/\s+/g, ' ').trim() || undefined
  }

  #part(name: string): Buffer {
    return this.#parts.get(name) ?? Buffer.alloc(0)
  }
}

import { posix } from 'node:path'
import { ExtractionError } from '../../extracted.ts'
import { child, parseXml, type XmlElement } from '../xml.ts'
import { readZip } from '../zip-guard.ts'

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

import { fileLayout } from '../../markdown/file/front-matter.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { linkKey } from '../../rules/links/link-target.ts'

/** Link with a label in Dendron's syntax; in a table the pipe is escaped. */
const labelled = /^([^|]*?)\\?\|([^|]*)$/s
/** Prefix that names another vault of the workspace, which is a folder of the import. */
const vault = /^\s*dendron:\/\/[^/]+\//

/**
 * Converts the links of a Dendron note: `[[label|target]]` becomes `[[target|label]]`, unless only the label is the name of a note.
 * `undefined` if the note cannot be parsed.
 * @param noteNames keys of the notes' names; see `linkKey`
 */
export async function fromDendron(
  parser: ParserPool,
  text: string,
  noteNames: ReadonlySet<string>,
): Promise<string | undefined> {
  const { bodyStart } = fileLayout(text)
  const body = text.slice(bodyStart)
  if (!body.includes('|')) return text
  const places = await parser.linkPlaces(body)
  if (places === undefined) return undefined
  let result = text.slice(0, bodyStart)
  let at = 0
  for (const place of places) {
    if (place.alias === undefined) continue
    const start = body.lastIndexOf('[[', place.start) + '[['.length
    const { at: close, separator } = place.alias
    result += body.slice(at, start) + swapped(body.slice(start, close), separator, noteNames)
    at = close
  }
  return result + body.slice(at)
}

function swapped(inner: string, separator: string, noteNames: ReadonlySet<string>): string {
  const [, label, written] = labelled.exec(inner) ?? []
  if (label === undefined || written === undefined) return inner
  const target = written.replace(vault, '').trim()
  const isNote = (name: string) => noteNames.has(linkKey(name.replace(/#.*$/s, '')))
  if (target === '' || (isNote(label) && !isNote(target))) return inner
  return `${target}${separator}${label.trim()}`
}

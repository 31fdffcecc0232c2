import type { NeuronRow, NeuronVersion } from '../../kb/projection/neuron-queries.ts'
import { parseNeuronFile, shownContent } from '../../markdown/file/neuron-file.ts'
import { fileTitle } from '../../markdown/neuron-title.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { idTail } from '../../rules/candidates/candidate-id.ts'
import { linkKey } from '../../rules/links/link-target.ts'
import type { IndexedDocument } from '../search-index.ts'

/** Format of an indexed page. Raise it whenever other parts of a page are indexed. */
const pageFormat = 10

/**
 * Returns the version of a page in the index. Contains the path, which is the title of a page without one, and the number of
 * tags, because a setting decides whether tags in the text count.
 */
export function versionOf({ blob, path, tags, updatedAt }: NeuronVersion): string {
  return `${pageFormat} ${blob} ${path} ${tags.length} ${updatedAt}`
}

export function blobOfVersion(version: string): string {
  return version.split(' ')[1] ?? ''
}

/** Returns a Neuron as a document to be indexed. @param text of its file @param candidates returns the ids of those that made its versions */
export async function neuronDocument(
  neuron: NeuronRow,
  { text, candidates }: { text: string; candidates: () => readonly string[] },
  parser: ParserPool,
): Promise<IndexedDocument> {
  const { seqId, title, tags, audience, path, updatedAt } = neuron
  const file = parseNeuronFile(text)
  const { chunks } = await parser.chunks(shownContent(file))
  const { note, noteShared, aliases } = file.fields
  const name = searchedName(path, candidates)
  return {
    key: seqId,
    kind: 'wiki',
    version: versionOf(neuron),
    title,
    aliases: linkKey(name) === linkKey(title) ? aliases : [...aliases, name],
    tags,
    path: path.replace(/^neurons\//, '').replace(/\.(?:md|markdown)$/i, ''),
    changedAt: updatedAt,
    audience,
    note: noteShared ? note : undefined,
    chunks,
  }
}

/** Strips the part of a candidate's id from a file name that the server chose; it is not a word to search for. */
function searchedName(path: string, candidates: () => readonly string[]): string {
  const name = fileTitle(path)
  const [, stem = name, tail] = /^(.+)-([0-9a-f]{6})$/.exec(name) ?? []
  return tail !== undefined && candidates().some((id) => idTail(id) === tail) ? stem : name
}

import type { NeuronFields } from '../knowledge/neuron.ts'
import { oneLine } from '../knowledge/text.ts'
import { firstHeading } from '../markdown/first-heading.ts'
import { parseFrontMatter } from '../markdown/front-matter.ts'
import { editFrontMatter } from '../markdown/front-matter-edit.ts'
import { editNeuron, formatNeuron, parseNeuronFile } from '../markdown/neuron-file.ts'
import { fileTitle } from './neuron-for-index.ts'

/** A foreign Markdown file, understood. */
export type Note = {
  title: string
  tags: string[]
  content: string
  /** The file with the keys that mean something else here moved to `imported-…`; nothing where its front matter is broken. */
  text: string | undefined
}

export type ImportedFields = Pick<NeuronFields, 'seqId' | 'id' | 'candidate' | 'connector' | 'sources'>

/** Keys that the import sets: what a foreign file holds there is kept under another name. */
const ownKeys = ['seqId', 'id', 'candidate', 'connector', 'sources', 'metadata'] as const

/** Reads a note of somebody else's making. Front matter that is no YAML stays as text, at the head of the content. */
export function readNote(origin: string, raw: string): Note {
  const text = raw.replace(/^\ufeff/, '')
  const { data, problems } = parseFrontMatter(text)
  if (problems.length > 0) return { title: titleOf(origin, undefined, text), tags: [], content: text, text: undefined }
  const moved = ownKeys.flatMap((key) => {
    const value = data[key]
    return value === undefined ? [] : [[key, undefined] as const, [`imported-${key}`, value] as const]
  })
  const mended = moved.length === 0 ? text : editFrontMatter(text, Object.fromEntries(moved))
  const { fields, content } = parseNeuronFile(mended)
  return { title: titleOf(origin, fields.title, content), tags: fields.tags, content, text: mended }
}

/** The Neuron's file: the note with the fields of a Neuron, everything else as it was. */
export function neuronOfNote(note: Note, fields: ImportedFields, aliases: readonly string[]): string {
  if (note.text === undefined) {
    const empty = { tags: [], edges: [], noteShared: false }
    return formatNeuron({ ...empty, ...fields, title: note.title, aliases: [...aliases] }, note.content)
  }
  const known = parseNeuronFile(note.text).fields
  const allAliases = [...new Set([...known.aliases, ...aliases])]
  return editNeuron(note.text, { ...fields, title: note.title, aliases: allAliases })
}

function titleOf(origin: string, title: string | undefined, content: string): string {
  const wished = title ?? firstHeading(content) ?? ''
  return oneLine(wished, 500) || oneLine(fileTitle(origin.replace(/\.markdown$/i, '.md')), 500) || 'Untitled'
}

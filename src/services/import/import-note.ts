import type { NeuronFields } from '../../knowledge/neuron.ts'
import { oneLine } from '../../knowledge/text.ts'
import { firstHeading } from '../../markdown/first-heading.ts'
import { fileLayout, parseFrontMatter } from '../../markdown/front-matter.ts'
import { editFrontMatter } from '../../markdown/front-matter-edit.ts'
import { readNeuronFields } from '../../markdown/neuron-fields.ts'
import { editNeuron, formatNeuron, parseNeuronFile } from '../../markdown/neuron-file.ts'
import type { YamlMap, YamlValue } from '../../markdown/yaml-value.ts'

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
/** Half of what front matter may be, so that there is room for what the import adds. */
const maxFrontMatterBytes = 8 * 1024
const maxFrontMatterLines = 500

/** Reads a note of somebody else's making. Front matter that is no YAML stays as text, at the head of the content. */
export function readNote(origin: string, text: string): Note {
  const { data, body, problems } = parseFrontMatter(text)
  if (problems.length > 0 || isTooLong(text)) {
    return { title: titleOf(origin, undefined, body), tags: [], content: text, text: undefined }
  }
  const mended = editFrontMatter(text, movedKeys(data))
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

function isTooLong(text: string): boolean {
  const layout = fileLayout(text)
  if (layout.kind !== 'block') return false
  return Buffer.byteLength(layout.yaml) > maxFrontMatterBytes || layout.yaml.split('\n').length > maxFrontMatterLines
}

/** The changes that take away the import's own keys, and those that hold what they cannot hold here. */
function movedKeys(data: YamlMap): Record<string, YamlValue | undefined> {
  const unfit = readNeuronFields(data).findings.map(({ key }) => key)
  const changes: Record<string, YamlValue | undefined> = {}
  for (const key of new Set([...ownKeys, ...unfit])) {
    const value = data[key]
    if (value === undefined) continue
    let name = `imported-${key}`
    while (name in data) name = `imported-${name}`
    changes[key] = undefined
    changes[name] = value
  }
  return changes
}

function titleOf(origin: string, title: string | undefined, content: string): string {
  const name = origin.slice(origin.lastIndexOf('/') + 1).replace(/\.(?:md|markdown)$/i, '')
  return oneLine(title ?? firstHeading(content) ?? '', 500) || oneLine(name, 500) || 'Untitled'
}

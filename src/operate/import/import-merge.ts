import type { Staging } from '../../git/staging.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import type { NeuronRow } from '../../kb/projection/neuron-queries.ts'
import { versionAt } from '../../kb/projection/version-queries.ts'
import { editNeuron, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { parseMetadata, readMetadata } from '../../rules/candidates/metadata.ts'
import { mergeText } from '../../rules/neurons/merge.ts'
import { isMerged, type PastCandidate } from './import-candidate.ts'
import type { ImportedFields, ImportNote } from './import-note.ts'

/** True if a Neuron's file is as the import left it, without changes of a curator. */
export function isAsImported(kb: KnowledgeBase, target: NeuronRow, { row, record }: PastCandidate): boolean {
  const version = row.approval && versionAt(kb.projection.write, target.seqId, row.approval.commit)
  return version?.blob === target.blob && !isMerged(record)
}

/**
 * Returns a Neuron's file with the note's changes since the last import: lines, title and tags. Everything else is the curators'. Undefined
 * if lines conflict with a curator's change.
 */
export async function mergedNeuron(
  staging: Staging,
  {
    note,
    fields,
    target,
    before,
    aliases,
  }: {
    note: ImportNote
    fields: ImportedFields
    target: NeuronRow
    before: PastCandidate['record']
    /** Aliases to add to the Neuron's own. */
    aliases: readonly string[]
  },
): Promise<string | undefined> {
  const current = await staging.readText(target.blob)
  const held = parseNeuronFile(current)
  const merged = mergeText(before.content, held.content, note.content)
  if ('conflicts' in merged) return undefined
  const tagsBefore = readMetadata(parseMetadata(before.metadata).data).tags
  const removed = tagsBefore.filter((tag) => !note.tags.includes(tag))
  const added = note.tags.filter((tag) => !tagsBefore.includes(tag))
  const tags = [...new Set([...held.fields.tags.filter((tag) => !removed.includes(tag)), ...added])]
  const title = held.fields.title === before.title ? note.title : held.fields.title
  const allAliases = [...new Set([...held.fields.aliases, ...aliases])]
  return editNeuron(current, { ...fields, title, tags, aliases: allAliases }, merged.text)
}

import { narrowedBehind, narrowsBehind } from '../../markdown/file/content-front-matter.ts'
import { withFrontMatter } from '../../markdown/file/foreign-front-matter.ts'
import {
  type FrontMatterProblem,
  fileLayout,
  frontMatterKeyLine,
  headMayHide,
  parseFrontMatter,
} from '../../markdown/file/front-matter.ts'
import { editFrontMatter } from '../../markdown/file/front-matter-edit.ts'
import { readNeuronFields, spelledKeys } from '../../markdown/file/neuron-fields.ts'
import {
  editNeuron,
  formatNeuron,
  type NeuronFile,
  parseNeuronFile,
  shownContent,
} from '../../markdown/file/neuron-file.ts'
import { inlineTags } from '../../markdown/inline-tags.ts'
import { fileTitle, ownTitle } from '../../markdown/neuron-title.ts'
import type { YamlMap, YamlValue } from '../../markdown/yaml/yaml.ts'
import { isInternal } from '../../rules/access/audience.ts'
import { checkConflictMarkers } from '../../rules/check/conflict-markers.ts'
import { meantName } from '../../rules/links/tool-spellings.ts'
import type { NeuronFields } from '../../rules/neurons/neuron.ts'
import { oneLine } from '../../rules/text/lines.ts'

export type ImportNote = {
  title: string
  tags: string[]
  content: string
  /** Text of the file, with keys of another meaning here moved to `imported-…`; undefined if its front matter is broken. */
  text: string | undefined
  /** Parsed {@link text}, if it is known. */
  file: NeuronFile | undefined
  /** `id` in the front matter, which may identify the note wherever it is moved. */
  foreignId: string | undefined
  notices: Notice[]
}

/** Notice for the author of a note. `line`: 1-based in the file. */
export type Notice = { line: number; message: string }

export type ImportedFields = Pick<NeuronFields, 'seqId' | 'id' | 'candidate' | 'connector' | 'sources'>

/** Keys that the import sets. Values of the note under these keys are stored under another name. */
const ownKeys = ['seqId', 'id', 'candidate', 'connector', 'sources', 'metadata'] as const
/** Maximum size of a note's front matter: half of the limit, which leaves room for the keys of the import. */
const maxFrontMatterBytes = 8 * 1024
const maxFrontMatterLines = 500

export type NoteOptions = {
  /** Known names in `audience`. A value without any of them belongs to another tool. */
  knownAudiences: ReadonlySet<string>
  /** True if tags in texts count. */
  inlineTags: boolean
}

/**
 * Reads a note written for another tool. From broken front matter the readable entries count, and the rest is kept as text; if nothing is
 * readable, it stays at the head of the content. A page that it may hide is tagged `internal`.
 */
export function readNote(
  origin: string,
  original: string,
  { knownAudiences, inlineTags: isCounted }: NoteOptions,
): ImportNote {
  const text = withFrontMatter(original)
  const parsed = parseFrontMatter(text)
  const { body, problems, mended, mayHide } = parsed
  const isRead = !isTooLong(text) && (problems.length === 0 || mended !== undefined)
  const sound = isRead && mended !== undefined ? withBlock(text, mended) : text
  const { data } = sound === text ? parsed : parseFrontMatter(sound)
  const known = readNeuronFields(data)
  const audienceKeys = spelledKeys(data, 'audience')
  const hasUnfitTags = audienceKeys.length === 0 && known.fields.audience !== undefined
  const isHidden = mayHide || hasUnfitTags || (!isRead && headMayHide(text))
  const shift = original.split('\n').length - text.split('\n').length
  const isSound = isRead && !isHidden && problems.length === 0
  const notices = (isSound ? [] : unreadable(problems, { isRead, isHidden })).map(({ line, message }) => ({
    ...{ line: Math.max(1, line + shift), message },
  }))
  if (!isRead) {
    const tags = isHidden ? ['internal'] : []
    const title = titleOf(origin, undefined, body)
    return { title, tags, content: text, text: undefined, file: undefined, foreignId: undefined, notices }
  }
  const foreignKey = audienceKeys.find((key) => !mayHide && isForeignAudience(data[key], known.fields, knownAudiences))
  const unfit = known.findings.map(({ key }) => key)
  const moved = editFrontMatter(sound, movedKeys(data, [...unfit, ...(foreignKey === undefined ? [] : audienceKeys)]))
  const file = parseNeuronFile(moved)
  const { fields, content } = file
  const isNarrowed = !isHidden && narrowsBehind(content, fields)
  if (isNarrowed) {
    const line = original.slice(0, original.lastIndexOf(content)).split('\n').length
    notices.push({ line, message: `${narrowedBehind} So it is tagged internal.` })
  }
  const tags = (isHidden || isNarrowed) && !isInternal(fields.tags) ? [...fields.tags, 'internal'] : fields.tags
  if (foreignKey !== undefined) notices.push(foreignAudience(original, foreignKey, data[foreignKey]))
  if (!isCounted) notices.push(...internalTag(moved === text ? file : parseNeuronFile(text)))
  notices.push(...checkConflictMarkers(original).map(({ line, message }) => ({ line, message })))
  const foreignId = typeof data.id === 'string' && data.id !== '' ? data.id : undefined
  const title = titleOf(origin, fields.title, content)
  const read = { title, tags, content, foreignId, notices }
  if (tags === fields.tags) return { ...read, text: moved, file }
  return { ...read, text: editNeuron(moved, { tags }, undefined, file), file: undefined }
}

function withBlock(text: string, yaml: string): string {
  const layout = fileLayout(text)
  if (layout.kind !== 'block') return text
  return text.slice(0, layout.yamlStart) + yaml + text.slice(layout.yamlStart + layout.yaml.length)
}

/** Returns the `foreignId` of the note behind a Neuron's file. */
export function foreignIdOf(text: string): string | undefined {
  const id = parseNeuronFile(text).extra['imported-id']
  return typeof id === 'string' ? id : undefined
}

export function neuronOfNote(note: ImportNote, fields: ImportedFields, aliases: readonly string[]): string {
  if (note.text === undefined) {
    const empty = { edges: [], noteShared: false }
    const { title, tags } = note
    return formatNeuron({ ...empty, ...fields, title, tags, aliases: [...aliases] }, note.content)
  }
  const file = note.file ?? parseNeuronFile(note.text)
  const allAliases = [...new Set([...file.fields.aliases, ...aliases])]
  return editNeuron(note.text, { ...fields, title: note.title, aliases: allAliases }, undefined, file)
}

function isTooLong(text: string): boolean {
  const layout = fileLayout(text)
  if (layout.kind !== 'block') return false
  return Buffer.byteLength(layout.yaml) > maxFrontMatterBytes || layout.yaml.split('\n').length > maxFrontMatterLines
}

function unreadable(
  problems: readonly FrontMatterProblem[],
  { isRead, isHidden }: { isRead: boolean; isHidden: boolean },
): Notice[] {
  const tooLong = { line: 1, message: isRead ? 'It is not between lines `---`.' : 'It is too long.' }
  const [{ line, message } = tooLong] = problems
  const what = isRead ? 'Not all of the front matter can be read: what cannot' : 'The front matter cannot be read and'
  const consequence = isHidden ? ' It may hide the page, so the page is tagged internal.' : ''
  return [{ line, message: `${what} is kept as text: ${message}${consequence}` }]
}

/** True if `audience` is another tool's key: it contains no name that is known here. */
function isForeignAudience(
  value: YamlValue | undefined,
  { audience }: Pick<NeuronFields, 'audience'>,
  known: ReadonlySet<string>,
): boolean {
  if (audience === undefined || (Array.isArray(value) && value.length === 0)) return false
  return !audience.some((name) => known.has(name)) && !isInternal(audience)
}

function foreignAudience(text: string, key: string, value: YamlValue | undefined): Notice {
  const shown = oneLine(typeof value === 'string' ? value : JSON.stringify(value), 100)
  const message = `The audience "${shown}" means nothing here and is kept as imported-audience: the default audience sees the page.`
  return { line: frontMatterKeyLine(text, key), message }
}

function internalTag(file: NeuronFile): Notice[] {
  const found = inlineTags(shownContent(file)).find(({ tag }) => isInternal([tag]))
  if (found === undefined) return []
  const message = `#${found.tag} in the text hides nothing here; import with --inline-tags to let such tags count.`
  return [{ line: file.contentLine + found.line - 1, message: oneLine(message, 300) }]
}

/** Returns the changes that rename the note's values of the import's keys, and `others`. */
function movedKeys(data: YamlMap, others: readonly string[]): Record<string, YamlValue | undefined> {
  const changes: Record<string, YamlValue | undefined> = {}
  for (const key of new Set([...ownKeys, ...others])) {
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
  return (
    oneLine(ownTitle(title === undefined ? {} : { title }, content) ?? meantName(fileTitle(origin)), 500) || 'Untitled'
  )
}

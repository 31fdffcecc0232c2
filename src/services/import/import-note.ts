import { isInternal } from '../../knowledge/audience.ts'
import { checkConflictMarkers } from '../../knowledge/check/conflict-markers.ts'
import type { NeuronFields } from '../../knowledge/neuron.ts'
import { oneLine } from '../../knowledge/text/text.ts'
import {
  type FrontMatterProblem,
  fileLayout,
  frontMatterKeyLine,
  parseFrontMatter,
} from '../../markdown/file/front-matter.ts'
import { editFrontMatter } from '../../markdown/file/front-matter-edit.ts'
import { readNeuronFields } from '../../markdown/file/neuron-fields.ts'
import { editNeuron, formatNeuron, type NeuronFile, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { inlineTags } from '../../markdown/inline-tags.ts'
import { fileTitle, ownTitle } from '../../markdown/neuron-title.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import type { YamlMap, YamlValue } from '../../markdown/yaml/yaml-value.ts'

/** A foreign Markdown file, understood. */
export type Note = {
  title: string
  tags: string[]
  content: string
  /** The file with the keys that mean something else here moved to `imported-…`; nothing where its front matter is broken. */
  text: string | undefined
  /** What its front matter has as `id`: it may tell the note from others wherever it is moved. */
  foreignId: string | undefined
  notices: Notice[]
}

/** What the author of a note should know about its import. `line` is 1-based in the file. */
export type Notice = { line: number; message: string }

export type ImportedFields = Pick<NeuronFields, 'seqId' | 'id' | 'candidate' | 'connector' | 'sources'>

/** Keys that the import sets: what a foreign file holds there is kept under another name. */
const ownKeys = ['seqId', 'id', 'candidate', 'connector', 'sources', 'metadata'] as const
/** Half of what front matter may be, so that there is room for what the import adds. */
const maxFrontMatterBytes = 8 * 1024
const maxFrontMatterLines = 500

export type NoteOptions = {
  /** Names that `audience` may hold here; a value with none of them is another tool's. */
  knownAudiences: ReadonlySet<string>
  /** Whether tags in texts count. */
  inlineTags: boolean
}

/** Reads a note written for another tool. Front matter that is not valid YAML stays as text, at the head of the content. */
export function readNote(origin: string, text: string, { knownAudiences, inlineTags: isCounted }: NoteOptions): Note {
  const { data, body, problems } = parseFrontMatter(text)
  if (problems.length > 0 || isTooLong(text)) {
    const tags = mayHide(text) ? ['internal'] : []
    const notices = unreadable(problems, tags.length > 0)
    return {
      title: titleOf(origin, undefined, body),
      tags,
      content: text,
      text: undefined,
      foreignId: undefined,
      notices,
    }
  }
  const isForeign = isForeignAudience(data, knownAudiences)
  const mended = editFrontMatter(text, movedKeys(data, isForeign ? ['audience'] : []))
  const { fields, content } = parseNeuronFile(mended)
  const notices = [
    ...(isForeign ? [foreignAudience(text, data)] : []),
    ...(isCounted ? [] : internalTag(parseNeuronFile(text))),
    ...checkConflictMarkers(text).map(({ line, message }) => ({ line, message })),
  ]
  const foreignId = typeof data.id === 'string' && data.id !== '' ? data.id : undefined
  const title = titleOf(origin, fields.title, content)
  return { title, tags: fields.tags, content, text: mended, foreignId, notices }
}

/** The `foreignId` of the note behind a Neuron's file. */
export function foreignIdOf(text: string): string | undefined {
  const id = parseNeuronFile(text).extra['imported-id']
  return typeof id === 'string' ? id : undefined
}

/** The Neuron's file: the note with the fields of a Neuron, everything else as it was. */
export function neuronOfNote(note: Note, fields: ImportedFields, aliases: readonly string[]): string {
  if (note.text === undefined) {
    const empty = { edges: [], noteShared: false }
    const { title, tags } = note
    return formatNeuron({ ...empty, ...fields, title, tags, aliases: [...aliases] }, note.content)
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

/** Whether front matter that cannot be read may say that only some may see the page. */
function mayHide(text: string): boolean {
  const layout = fileLayout(text)
  const head = layout.kind === 'block' ? layout.yaml : (text.split(/\r?\n\s*\n/, 1)[0] ?? '')
  return /^[^\S\n]*audience\s*:|\binternal\b/im.test(head)
}

function unreadable(problems: readonly FrontMatterProblem[], isHidden: boolean): Notice[] {
  const [{ line, message } = { line: 1, message: 'It is too long.' }] = problems
  const consequence = isHidden ? ' It may hide the page, so the page is tagged internal.' : ''
  return [{ line, message: `The front matter cannot be read and is kept as text: ${message}${consequence}` }]
}

/** Whether `audience` is another tool's key: it holds no name that means something here. */
function isForeignAudience(data: YamlMap, known: ReadonlySet<string>): boolean {
  const { audience } = readNeuronFields(data).fields
  if (audience === undefined || (Array.isArray(data.audience) && data.audience.length === 0)) return false
  return !audience.some((name) => known.has(name)) && !isInternal(audience)
}

function foreignAudience(text: string, { audience }: YamlMap): Notice {
  const value = oneLine(typeof audience === 'string' ? audience : JSON.stringify(audience), 100)
  const message = `The audience "${value}" means nothing here and is kept as imported-audience: the default audience sees the page.`
  return { line: frontMatterKeyLine(text, 'audience'), message }
}

function internalTag(file: NeuronFile): Notice[] {
  const found = inlineTags(shownContent(file)).find(({ tag }) => isInternal([tag]))
  if (found === undefined) return []
  const message = `#${found.tag} in the text hides nothing here; import with --inline-tags to let such tags count.`
  return [{ line: file.contentLine + found.line - 1, message: oneLine(message, 300) }]
}

/** The changes that take away the import's own keys, those that hold what they cannot hold here, and `others`. */
function movedKeys(data: YamlMap, others: readonly string[]): Record<string, YamlValue | undefined> {
  const unfit = readNeuronFields(data).findings.map(({ key }) => key)
  const changes: Record<string, YamlValue | undefined> = {}
  for (const key of new Set([...ownKeys, ...unfit, ...others])) {
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
  return oneLine(ownTitle(title === undefined ? {} : { title }, content) ?? fileTitle(origin), 500) || 'Untitled'
}

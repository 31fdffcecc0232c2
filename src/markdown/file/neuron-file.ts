import { isDeepStrictEqual } from 'node:util'
import type { Access } from '../../rules/access/audience.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'
import type { Finding, NeuronFields } from '../../rules/neurons/neuron.ts'
import { joinTags } from '../../rules/neurons/tag.ts'
import { unixLines } from '../../rules/text/line-endings.ts'
import { withoutComments } from '../comments.ts'
import { inlineTags } from '../inline-tags.ts'
import { linesOf } from '../parse/split-blocks.ts'
import type { YamlInput, YamlInputMap, YamlValue } from '../yaml/yaml.ts'
import {
  fileLayout,
  formatFrontMatter,
  frontMatterKeyLine,
  joinBody,
  parseFrontMatter,
  replaceContent,
  splitBody,
} from './front-matter.ts'
import { editFrontMatter } from './front-matter-edit.ts'
import { foreignIdKey, neuronKeys, readNeuronFields, spelledKeys } from './neuron-fields.ts'
import { type PropertyLink, propertyLinks } from './property-links.ts'

export type NeuronFile = {
  fields: NeuronFields
  /** Keys that Ganglion does not interpret, with their values. */
  extra: Record<string, YamlValue>
  /** Links in the values of those keys. */
  propertyLinks: PropertyLink[]
  content: string
  /** 1-based line of the content's start. */
  contentLine: number
  findings: Omit<Finding, 'path'>[]
}

/** Fields to set. `undefined`, an empty list (but not an empty audience) and `noteShared: false` remove the key. */
export type NeuronChanges = { readonly [K in keyof NeuronFields]?: NeuronFields[K] | undefined }

/** Parses a Neuron's file. Problems of the front matter become findings. Never throws. */
export function parseNeuronFile(text: string): NeuronFile {
  const { data, body, bodyLine, problems } = parseFrontMatter(text)
  const { fields, extra, findings } = readNeuronFields(data)
  const { content, contentStart } = splitBody(body, fileLayout(text).eol)
  return {
    fields,
    extra,
    propertyLinks: propertyLinks(extra),
    content,
    contentLine: bodyLine + Math.sign(contentStart),
    findings: [
      ...problems.map((problem) => ({ ...problem, severity: 'error' as const })),
      ...findings.map(({ key, ...finding }) => ({ ...finding, line: frontMatterKeyLine(text, key) })),
    ],
  }
}

/** Formats a new file. `parseNeuronFile` returns the same content byte for byte. @param more further keys, written last */
export function formatNeuron(fields: NeuronChanges, content: string, more: YamlInputMap = {}): string {
  return formatFrontMatter({ ...toEntries(fields), ...more }) + joinBody(content, '\n')
}

/**
 * Changes fields, and the content if given, and keeps every other byte of the file: the curator's own keys, comments, order, quoting and
 * line endings. Throws a FrontMatterError if the front matter cannot be parsed.
 * @param current the parsed text, if it is known
 */
export function editNeuron(
  text: string,
  changes: NeuronChanges,
  content?: string,
  current: NeuronFile = parseNeuronFile(text),
): string {
  const effective = Object.entries(toEntries(changes)).filter(
    ([key]) => !isDeepStrictEqual(Reflect.get(current.fields, key), Reflect.get(changes, key)),
  )
  const edited = editFrontMatter(text, {
    ...replacedKeys(text, current, new Map(effective)),
    ...Object.fromEntries(effective),
  })
  const { kind, eol, bodyStart } = fileLayout(edited)
  const isNewBlock = kind === 'block' && fileLayout(text).kind !== 'block'
  const isSame = content === undefined || content === current.content
  if (isSame && !isNewBlock) return edited
  const head = edited.slice(0, bodyStart)
  const rest = edited.slice(bodyStart)
  const body = isNewBlock ? blankLine(rest, eol) + rest : rest
  if (isSame) return head + body
  if (kind !== 'block') return head + joinBody(content, eol)
  return head + (head.endsWith('\n') ? '' : eol) + replaceContent(body, content, eol)
}

/** Returns the keys of other tools that the changes replace: other spellings of a list, and an `id` that moves to another key. */
function replacedKeys(text: string, { extra }: NeuronFile, changes: ReadonlyMap<string, unknown>): YamlInputMap {
  const lists = (['tags', 'audience', 'aliases'] as const).filter((key) => changes.has(key))
  const names = lists.length === 0 ? [] : lists.flatMap((key) => spelledKeys(parseFrontMatter(text).data, key))
  const foreignId = changes.has('id') ? extra[foreignIdKey] : undefined
  return {
    ...Object.fromEntries(names.map((name) => [name, undefined])),
    ...(foreignId && { [foreignIdKey]: foreignId }),
  }
}

function blankLine(body: string, eol: string): string {
  return /^\r?\n/.test(body) ? '' : eol
}

/** Returns the given fields in the order of `neuronKeys`. */
function toEntries(fields: NeuronChanges): YamlInputMap {
  const entries = neuronKeys.filter((key) => key in fields).map((key) => [key, toInput(key, fields[key])])
  return Object.fromEntries(entries)
}

function toInput(key: keyof NeuronFields, value: NeuronChanges[keyof NeuronFields]): YamlInput | undefined {
  if (value === undefined || value === false) return undefined
  return Array.isArray(value) && value.length === 0 && key !== 'audience' ? undefined : value
}

type Page = Pick<NeuronFile, 'fields' | 'extra' | 'content'>

/** Returns all tags of a page: those of its front matter, and those of its text if the settings count them. */
export function allTags(page: Page, { inlineTags: isCounted }: Pick<KbSettings, 'inlineTags'>): string[] {
  const found = isCounted ? inlineTags(shownContent(page)).map(({ tag }) => tag) : []
  return joinTags(page.fields.tags, found)
}

/** Returns the audience and tags of a page, which decide who may see it. */
export function accessIn(page: Page, settings: Pick<KbSettings, 'inlineTags'>): Access {
  return { audience: page.fields.audience, tags: allTags(page, settings) }
}

/** Matches the Excalidraw plugin's data in a drawing's page: from one of these headings to the end. */
const drawingData = /^#{1,6}[ \t]+(?:Excalidraw Data|Text Elements|Element Links|Embedded Files|Drawing)[ \t]*$/im
/** Matches the plugin's notice for people who open the page elsewhere. */
const drawingBanner = /^==⚠.*$/m

/**
 * Returns the part of a Neuron's content that readers see and that is searched and linked: all but Obsidian's comments and the data of an
 * Excalidraw drawing. Keeps line numbers; lines end in LF. Curators see all of the content.
 */
export function shownContent({ content, extra }: Pick<NeuronFile, 'content' | 'extra'>): string {
  const written = unixLines(content)
  const shown = withoutComments('excalidraw-plugin' in extra ? withoutDrawing(written) : written)
  return shown === written ? written : shown.trimEnd()
}

/** Returns the lines of a content that are hidden from readers, wholly or in part. */
export function hiddenLines(file: Pick<NeuronFile, 'content' | 'extra'>): string[] {
  const content = shownContent(file)
  if (content === unixLines(file.content)) return []
  const shown = linesOf(content).map(({ text }) => text.trimEnd())
  const lines = linesOf(file.content).map(({ text }) => text.trimEnd())
  return lines.filter((line, at) => line !== (shown[at] ?? ''))
}

function withoutDrawing(content: string): string {
  const end = drawingData.exec(content)?.index ?? content.length
  return content.slice(0, end).replace(drawingBanner, '')
}

import { isDeepStrictEqual } from 'node:util'
import type { Finding, NeuronFields } from '../../rules/neurons/neuron.ts'
import type { YamlValue } from '../yaml/plain-yaml.ts'
import type { YamlInput, YamlInputMap } from '../yaml/yaml.ts'
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

import { isDeepStrictEqual } from 'node:util'
import { isCollection, isMap, type Node, parseDocument } from 'yaml'
import { type KbSettings, parseKbSettings, type SettingsProblem } from '../../rules/kb-settings.ts'
import {
  parseYaml,
  parseYamlDocument,
  stringifyYaml,
  type YamlInput,
  type YamlInputMap,
  type YamlMap,
  type YamlValue,
} from '../yaml/yaml.ts'
import {
  applySplices,
  columnOf,
  keyStart,
  lineEnd,
  removal,
  replacement,
  type Splice,
  written,
  type YamlPair,
} from './front-matter-edit.ts'

/**
 * Parses the text of a `kb.yaml`. Never throws. A part that is not valid YAML may have been a rule or an audience, so then nothing is
 * approved automatically, and nothing is shown to readers who are not listed.
 */
export function parseKbFile(text: string): { settings: KbSettings; problems: SettingsProblem[] } {
  const yaml = parseYaml(text)
  const { settings, problems } = parseKbSettings(yaml.data)
  if (yaml.problems.length === 0) return { settings, problems }
  const unreadable = yaml.problems.map(
    ({ message, line }): SettingsProblem => ({ path: '', severity: 'error', message: `line ${line}: ${message}` }),
  )
  // The approval rules may be in the unreadable part.
  const deciding = /^(?:owners|approvals|authorMayApprove)\s*:/m.test(text) ? null : settings.deciding
  return {
    settings: { ...settings, deciding, policy: null, zones: null, defaultAudience: [], inlineTags: true },
    problems: [...unreadable, ...problems],
  }
}

/** New value of a setting, by its path of keys. `undefined` removes the setting. */
export type SettingEdit = { path: readonly [string, ...string[]]; value: YamlInput | undefined }

/**
 * Changes settings in the text of a `kb.yaml` and keeps every other byte: comments, order, quoting and line endings. An equal value changes
 * nothing. Rare shapes, such as a flow map, are rewritten, with their comments.
 * @param text a `kb.yaml` without problems
 */
export function editKbFile(text: string, edits: readonly SettingEdit[]): string {
  return edits.reduce(editSetting, text)
}

function editSetting(text: string, { path, value }: SettingEdit): string {
  const { data } = parseYaml(text, Number.POSITIVE_INFINITY)
  const wanted = withSetting(data, path, written(value))
  if (isDeepStrictEqual(data, wanted)) return text
  const splice = spliceOf(text, path, value)
  const spliced = splice && applySplices(text, [splice])
  if (
    spliced !== undefined &&
    isDeepStrictEqual(parseYaml(spliced, Number.POSITIVE_INFINITY), { data: wanted, problems: [] })
  ) {
    return spliced
  }
  return rewritten(text, path, value)
}

function rewritten(text: string, path: readonly string[], value: YamlInput | undefined): string {
  const document = parseDocument(text)
  if (value === undefined) document.deleteIn(path)
  else {
    // A key with an empty value is replaced by a map.
    const empty = path.findIndex((_, depth) => depth > 0 && !isCollection(document.getIn(path.slice(0, depth), true)))
    const depth = empty === -1 ? path.length : empty
    document.setIn(path.slice(0, depth), document.createNode(nested(path.slice(depth), value)))
  }
  return document.toString({ lineWidth: 0 })
}

function nested(path: readonly string[], value: YamlInput): YamlInput {
  return path.reduceRight<YamlInput>((inner, key): YamlInputMap => ({ [key]: inner }), value)
}

/** Returns the parsed data with a changed setting. A map without entries parses as the empty text. */
function withSetting(data: YamlValue, [key, ...rest]: readonly string[], value: YamlValue | undefined): YamlValue {
  if (key === undefined) return value ?? ''
  const map: YamlMap = Object.assign(Object.create(null), typeof data === 'object' && !Array.isArray(data) ? data : {})
  if (rest.length === 0 && value === undefined) delete map[key]
  else if (value !== undefined || key in map) map[key] = withSetting(map[key] ?? '', rest, value)
  return map
}

/** Returns the splice for a setting, or `undefined` if the text has no line to splice. */
function spliceOf(text: string, path: readonly string[], value: YamlInput | undefined): Splice | undefined {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  let node: Node | null = parseYamlDocument(text).contents
  for (const [depth, key] of path.entries()) {
    if (!isMap<Node, Node | null>(node) || node.flow === true) return undefined
    const pair: YamlPair | undefined = node.items.find((item) => String(item.key) === key)
    if (pair === undefined)
      return value === undefined ? undefined : insertion(text, node.items, path.slice(depth), value, eol)
    if (depth === path.length - 1) {
      if (value === undefined) return node.items.length > 1 ? removal(text, pair) : undefined
      return replacement(text, pair, value, eol, ' '.repeat(columnOf(text, keyStart(pair))))
    }
    node = pair.value
  }
  return undefined
}

/** Inserts an entry after the last one of its map. */
function insertion(
  text: string,
  pairs: readonly YamlPair[],
  path: readonly string[],
  value: YamlInput,
  eol: string,
): Splice | undefined {
  const [first, last] = [pairs[0], pairs.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const indent = ' '.repeat(columnOf(text, keyStart(first)))
  const lines = stringifyYaml(nested(path, value))
    .trimEnd()
    .split('\n')
    .map((line) => indent + line + eol)
  const at = lineEnd(text, last)
  return { start: at, end: at, text: (text[at - 1] === '\n' ? '' : eol) + lines.join('') }
}

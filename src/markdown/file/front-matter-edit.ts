import { isDeepStrictEqual } from 'node:util'
import { isMap, isScalar, type Node, type Pair } from 'yaml'
import { GanglionError } from '../../contract/errors.ts'
import {
  definedEntries,
  parseYaml,
  parseYamlDocument,
  readPlainYaml,
  type YamlInput,
  type YamlInputMap,
  type YamlMap,
  type YamlValue,
} from '../yaml/yaml.ts'
import { entryLines, fileLayout, formatFrontMatter, formatValue, parseFrontMatter } from './front-matter.ts'

/** Thrown if front matter cannot be edited because it cannot be parsed. A curator must correct it first. */
export class FrontMatterError extends GanglionError {
  constructor() {
    super('target_unreadable')
  }
}

/**
 * Sets top-level keys (in place, or appended in the given order) and removes those whose value is `undefined`. Every other byte stays:
 * comments, order, quoting, line endings, BOM, body. An equal value changes nothing. A text without front matter gets a block. Throws a
 * FrontMatterError if the front matter has a problem.
 */
export function editFrontMatter(text: string, changes: YamlInputMap): string {
  const layout = fileLayout(text)
  if (layout.kind !== 'block') {
    if (definedEntries(changes).length === 0) return text
    return text.slice(0, layout.bodyStart) + formatFrontMatter(changes, layout.eol) + text.slice(layout.bodyStart)
  }
  const { data, problems } = parseFrontMatter(text)
  if (problems.length > 0) throw new FrontMatterError()
  const effective = Object.entries(changes).filter(([key, value]) => !isDeepStrictEqual(data[key], written(value)))
  if (effective.length === 0) return text
  const { yaml, yamlStart, eol } = layout
  return text.slice(0, yamlStart) + editYaml(yaml, data, effective, eol) + text.slice(yamlStart + yaml.length)
}

type Change = readonly [key: string, value: YamlInput | undefined]

/**
 * Splices the text and parses the result to verify it. Rare shapes (one flow map as the whole block, `...` at the end) have no line to
 * splice and are rewritten in block style.
 */
function editYaml(yaml: string, data: YamlMap, changes: readonly Change[], eol: string): string {
  const wanted: YamlInputMap = Object.assign(Object.create(null), data, Object.fromEntries(changes))
  const appended = appendPlain(yaml, changes, eol)
  if (appended !== undefined && isDeepStrictEqual(readPlainYaml(appended), written(wanted))) return appended
  const root = parseYamlDocument(yaml).contents
  if (root === null || (isMap<Node, Node | null>(root) && root.flow !== true)) {
    const spliced = spliceYaml(yaml, root?.items ?? [], changes, eol)
    const result = parseYaml(spliced, Number.POSITIVE_INFINITY)
    const read = result.data === '' ? written({}) : result.data
    if (result.problems.length === 0 && isDeepStrictEqual(read, written(wanted))) return spliced
  }
  const lines = definedEntries(wanted).flatMap(([key, value]) => entryLines(key, value))
  return lines.map((line) => line + eol).join('')
}

/** Appends new keys to a block in plain style without a YAML parser. Most files of an import get their keys this way. */
function appendPlain(yaml: string, changes: readonly Change[], eol: string): string | undefined {
  const plain = eol === '\n' && yaml.endsWith('\n') ? readPlainYaml(yaml) : undefined
  if (plain === undefined) return undefined
  let text = yaml
  for (const [key, value] of changes) {
    if (value === undefined || key in plain) return undefined
    text += `${entryLines(key, value).join('\n')}\n`
  }
  return text
}

function spliceYaml(yaml: string, pairs: readonly YamlPair[], changes: readonly Change[], eol: string): string {
  const indent = ' '.repeat(pairs[0] ? columnOf(yaml, keyStart(pairs[0])) : 0)
  const splices: Splice[] = []
  for (const [key, value] of changes) {
    const pair = pairs.find((candidate) => isScalar(candidate.key) && candidate.key.value === key)
    if (value === undefined) {
      if (pair) splices.push(removal(yaml, pair))
    } else if (pair) splices.push(replacement(yaml, pair, value, eol, indent))
    else {
      const text = entryLines(key, value).map((line) => indent + line + eol)
      splices.push({ start: yaml.length, end: yaml.length, text: text.join('') })
    }
  }
  return applySplices(yaml, splices)
}

export type YamlPair = Pair<Node, Node | null>
/** Text that replaces a range of a YAML text. */
export type Splice = { start: number; end: number; text: string }

/** Applies splices. @param splices must not overlap */
export function applySplices(yaml: string, splices: readonly Splice[]): string {
  let result = ''
  let at = 0
  for (const { start, end, text } of splices.toSorted((a, b) => a.start - b.start)) {
    result += yaml.slice(at, start) + text
    at = end
  }
  return result + yaml.slice(at)
}

/** Replaces only the value: a comment between the key and the value, or after it on its line, stays. */
export function replacement(yaml: string, pair: YamlPair, value: YamlInput, eol: string, indent: string): Splice {
  const { colonEnd, start, end } = valueRange(yaml, pair)
  const formatted = formatValue(value)
  if (yaml.slice(colonEnd, start).trim() !== '') {
    const text = formatted.inline ?? formatted.items.join(eol + ' '.repeat(columnOf(yaml, start)))
    return { start, end, text }
  }
  const text =
    formatted.inline === undefined
      ? formatted.items.map((item) => `${eol}${indent}  ${item}`).join('')
      : ` ${formatted.inline}`
  return { start: colonEnd, end, text }
}

/** Removes whole lines, from the key's first to the value's last. */
export function removal(yaml: string, pair: YamlPair): Splice {
  return { start: yaml.lastIndexOf('\n', keyStart(pair) - 1) + 1, end: lineEnd(yaml, pair), text: '' }
}

/** Returns the start of the line after a pair. */
export function lineEnd(yaml: string, pair: YamlPair): number {
  const newline = yaml.indexOf('\n', valueRange(yaml, pair).end)
  return newline < 0 ? yaml.length : newline + 1
}

/** Returns the range of a value. An empty value begins and ends right after the colon. */
function valueRange(yaml: string, pair: YamlPair): { colonEnd: number; start: number; end: number } {
  const colon = pair.srcToken?.sep?.find((token) => token.type === 'map-value-ind')
  const colonEnd = (colon?.offset ?? pair.key.range?.[1] ?? 0) + 1
  const [start, rangeEnd] = pair.value?.range ?? [colonEnd, colonEnd]
  let end = rangeEnd
  while (end > start && ' \t\r\n'.includes(yaml.charAt(end - 1))) end--
  return start === end ? { colonEnd, start: colonEnd, end: colonEnd } : { colonEnd, start, end }
}

export function keyStart(pair: YamlPair): number {
  return pair.key.range?.[0] ?? 0
}

export function columnOf(yaml: string, offset: number): number {
  return offset - (yaml.lastIndexOf('\n', offset - 1) + 1)
}

/** Returns a value as `parseYaml` would parse it after writing. */
export function written(value: YamlInput | undefined): YamlValue | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.map((item) => written(item) ?? '')
  const entries = Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : [[key, written(item) ?? '']],
  )
  return Object.assign(Object.create(null), Object.fromEntries(entries))
}

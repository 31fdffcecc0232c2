import { isDeepStrictEqual } from 'node:util'
import { isMap, isScalar, type Node, type Pair } from 'yaml'
import {
  entryLines,
  type FrontMatterProblem,
  fileLayout,
  formatFrontMatter,
  formatValue,
  parseFrontMatter,
} from './front-matter.ts'
import { definedEntries, parseYaml, parseYamlDocument, type YamlInput, type YamlInputMap } from './yaml.ts'
import type { YamlMap, YamlValue } from './yaml-value.ts'

/** Thrown when front matter cannot be edited because it cannot be read. */
export class FrontMatterError extends Error {
  readonly problems: readonly FrontMatterProblem[]

  constructor(problems: readonly FrontMatterProblem[]) {
    super(`The front matter cannot be edited: ${problems.map(({ message }) => message).join(' ')}`)
    this.name = 'FrontMatterError'
    this.problems = problems
  }
}

/**
 * Sets top-level keys (in place, or appended in the order given) and removes those whose value is `undefined`. Every other
 * byte stays: comments, order, quoting, line endings, BOM, body. An equal value changes nothing. A text without front matter
 * gets a block. Throws a FrontMatterError when the front matter has a problem.
 */
export function editFrontMatter(text: string, changes: YamlInputMap): string {
  const layout = fileLayout(text)
  if (layout.kind !== 'block') {
    if (definedEntries(changes).length === 0) return text
    return text.slice(0, layout.bodyStart) + formatFrontMatter(changes, layout.eol) + text.slice(layout.bodyStart)
  }
  const { data, problems } = parseFrontMatter(text)
  if (problems.length > 0) throw new FrontMatterError(problems)
  const effective = Object.entries(changes).filter(([key, value]) => !isDeepStrictEqual(data[key], written(value)))
  if (effective.length === 0) return text
  const { yaml, yamlStart, eol } = layout
  return text.slice(0, yamlStart) + editYaml(yaml, data, effective, eol) + text.slice(yamlStart + yaml.length)
}

type Change = readonly [key: string, value: YamlInput | undefined]
type TopPair = Pair<Node, Node | null>
type Splice = { start: number; end: number; text: string }

/**
 * Splices, then reads the result back: rare shapes (one flow map as the whole block, `...` at the end) have no line to
 * splice, and are written anew in block style.
 */
function editYaml(yaml: string, data: YamlMap, changes: readonly Change[], eol: string): string {
  const wanted: YamlInputMap = Object.assign(Object.create(null), data, Object.fromEntries(changes))
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

function spliceYaml(yaml: string, pairs: readonly TopPair[], changes: readonly Change[], eol: string): string {
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
  let result = ''
  let at = 0
  for (const { start, end, text } of splices.sort((a, b) => a.start - b.start)) {
    result += yaml.slice(at, start) + text
    at = end
  }
  return result + yaml.slice(at)
}

/** The value alone: a comment between the key and it, or after it on its line, stays. */
function replacement(yaml: string, pair: TopPair, value: YamlInput, eol: string, indent: string): Splice {
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

/** Whole lines, from the key's to the value's last. */
function removal(yaml: string, pair: TopPair): Splice {
  const { end } = valueRange(yaml, pair)
  const newline = yaml.indexOf('\n', end)
  return {
    start: yaml.lastIndexOf('\n', keyStart(pair) - 1) + 1,
    end: newline < 0 ? yaml.length : newline + 1,
    text: '',
  }
}

/** An empty value has no place of its own: it begins and ends right after the colon. */
function valueRange(yaml: string, pair: TopPair): { colonEnd: number; start: number; end: number } {
  const colon = pair.srcToken?.sep?.find((token) => token.type === 'map-value-ind')
  const colonEnd = (colon?.offset ?? pair.key.range?.[1] ?? 0) + 1
  const [start, rangeEnd] = pair.value?.range ?? [colonEnd, colonEnd]
  let end = rangeEnd
  while (end > start && ' \t\r\n'.includes(yaml.charAt(end - 1))) end--
  return start === end ? { colonEnd, start: colonEnd, end: colonEnd } : { colonEnd, start, end }
}

function keyStart(pair: TopPair): number {
  return pair.key.range?.[0] ?? 0
}

function columnOf(yaml: string, offset: number): number {
  return offset - (yaml.lastIndexOf('\n', offset - 1) + 1)
}

/** A value as `parseYaml` would read it back. */
function written(value: YamlInput | undefined): YamlValue | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.map((item) => written(item) ?? '')
  const entries = Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : [[key, written(item) ?? '']],
  )
  return Object.assign(Object.create(null), Object.fromEntries(entries))
}

import { isDeepStrictEqual } from 'node:util'
import { isMap, isScalar, type Node } from 'yaml'
import { GanglionError } from '../../contract/errors.ts'
import { readPlainYaml } from '../yaml/plain-yaml.ts'
import { definedEntries, parseYaml, parseYamlDocument, type YamlInput, type YamlInputMap } from '../yaml/yaml.ts'
import type { YamlMap } from '../yaml/yaml-scalar.ts'
import { entryLines, fileLayout, formatFrontMatter, parseFrontMatter } from './front-matter.ts'
import {
  applySplices,
  columnOf,
  keyStart,
  removal,
  replacement,
  type Splice,
  written,
  type YamlPair,
} from './yaml-splice.ts'

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

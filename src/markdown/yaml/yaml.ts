import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from 'yaml'
import { prototypeKeys } from '../../contract/json.ts'
import { lineFinder } from '../../rules/text/lines.ts'
import { formatScalar, readPlainYaml, type YamlMap, type YamlValue } from './plain-yaml.ts'

/** Value that can be written. A key whose value is `undefined` is left out. */
export type YamlInput = string | number | boolean | readonly YamlInput[] | YamlInputMap
export type YamlInputMap = { readonly [key: string]: YamlInput | undefined }

/** Problem in a YAML text. `line`: 1-based. */
export type YamlProblem = { message: string; line: number }

export const maxYamlBytes = 16 * 1024
const maxDepth = 8

/**
 * Parses one YAML document with the failsafe schema: scalars are strings, an empty value is `''`. Anchors, aliases, tags, keys that are not
 * text or occur twice, nesting deeper than 8 and texts over `maxBytes` are problems; `data` then has only the readable parts and must not
 * be relied on. Never throws.
 */
export function parseYaml(text: string, maxBytes = maxYamlBytes): { data: YamlValue; problems: YamlProblem[] } {
  if (Buffer.byteLength(text) > maxBytes) {
    return { data: '', problems: [{ message: `YAML is limited to ${maxBytes} bytes.`, line: 1 }] }
  }
  const plain = readPlainYaml(text)
  return plain === undefined ? parseFullYaml(text) : { data: plain, problems: [] }
}

/** Parses with the YAML parser alone, whatever the text's shape and size. */
export function parseFullYaml(text: string): { data: YamlValue; problems: YamlProblem[] } {
  const problems: YamlProblem[] = []
  const lineAt = lineFinder(text)
  const report = (message: string, offset: number): void => {
    problems.push({ message, line: lineAt(offset) })
  }
  try {
    const document = parseYamlDocument(text)
    for (const error of document.errors) report(error.message, error.pos[0])
    return { data: document.contents === null ? '' : toValue(document.contents, 1, report), problems }
  } catch {
    // The parser recurses; permitted depths stay far from the end of the stack.
    return { data: '', problems: [{ message: 'YAML is nested too deep.', line: 1 }] }
  }
}

/** Returns the syntax tree with source ranges, parsed as in `parseYaml`. May throw a RangeError on deep nesting. */
export function parseYamlDocument(text: string) {
  return parseDocument(text, {
    schema: 'failsafe',
    merge: false,
    uniqueKeys: false,
    keepSourceTokens: true,
    prettyErrors: false,
    logLevel: 'silent',
  })
}

type Report = (message: string, offset: number) => void

function toValue(node: Node, depth: number, report: Report): YamlValue {
  const offset = node.range?.[0] ?? 0
  if (isAlias(node) || node.anchor !== undefined) report('Anchors and aliases are not allowed.', offset)
  else if (node.tag !== undefined) report('Tags are not allowed.', offset)
  if (isScalar(node)) return typeof node.value === 'string' ? node.value : (node.source ?? '')
  if (depth > maxDepth) {
    report(`Nesting is limited to ${maxDepth} levels.`, offset)
    return ''
  }
  if (isSeq<Node>(node)) return node.items.map((item) => toValue(item, depth + 1, report))
  return isMap<Node, Node | null>(node) ? toMap(node.items, depth, report) : ''
}

function toMap(pairs: Pair<Node, Node | null>[], depth: number, report: Report): YamlMap {
  const map: YamlMap = Object.create(null)
  for (const { key: keyNode, value } of pairs) {
    const offset = keyNode.range?.[0] ?? 0
    const key = isScalar(keyNode) ? toValue(keyNode, depth, report) : undefined
    if (typeof key !== 'string') report('A key must be text.', offset)
    else if (prototypeKeys.has(key)) report(`The key ${key} is not allowed.`, offset)
    else if (key in map) report(`The key ${key} comes twice.`, offset)
    else map[key] = value === null ? '' : toValue(value, depth + 1, report)
  }
  return map
}

/** Formats a value in block style: lists and maps indented by two, quotes only where necessary, lines never folded. */
export function stringifyYaml(value: YamlInput): string {
  return `${blockLines(value).join('\n')}\n`
}

/** Formats a value on one line: `[a, b]`, `{ type: cites, target: x }`, or a scalar. */
export function formatFlow(value: YamlInput): string {
  if (typeof value === 'string') return formatScalar(value, 'flow')
  if (isList(value)) return `[${value.map(formatFlow).join(', ')}]`
  if (typeof value !== 'object') return String(value)
  const entries = definedEntries(value).map(([key, item]) => `${formatScalar(key, 'flow')}: ${formatFlow(item)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

function blockLines(value: YamlInput): string[] {
  if (typeof value === 'string') return [formatScalar(value, 'block')]
  if (isEmptyOrScalar(value)) return [formatFlow(value)]
  if (isList(value)) {
    return value.flatMap((item) => blockLines(item).map((line, index) => `${index === 0 ? '- ' : '  '}${line}`))
  }
  return definedEntries(value).flatMap(([key, item]) => {
    const lines = blockLines(item)
    const name = `${formatScalar(key, 'flow')}:`
    return isEmptyOrScalar(item) ? `${name} ${lines[0]}` : [name, ...lines.map((line) => `  ${line}`)]
  })
}

function isEmptyOrScalar(value: YamlInput): value is string | number | boolean {
  if (typeof value !== 'object') return true
  return isList(value) ? value.length === 0 : definedEntries(value).length === 0
}

function isList(value: YamlInput): value is readonly YamlInput[] {
  return Array.isArray(value)
}

export function definedEntries(map: YamlInputMap): [string, YamlInput][] {
  return Object.entries(map).filter((entry): entry is [string, YamlInput] => entry[1] !== undefined)
}

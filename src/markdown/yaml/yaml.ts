import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from 'yaml'
import { prototypeKeys } from '../../contract/json.ts'
import { lineFinder } from '../../rules/text/lines.ts'

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

const topKey = /^([A-Za-z][\w-]{0,63}):(?: |$)/
const flowKey = /([A-Za-z][\w-]{0,63}): /y
const quoted = /"(?:[^"\\]|\\.)*"/y
const plain = /[^,[\]{}:"]+/y
const spaces = / */y
const inheritedNames: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype))
/** Maximum depth of flow collections: enough for Ganglion's own output; deeper text is left to the YAML parser. */
const maxFlowDepth = 4

/**
 * Parses the plain subset of YAML that Ganglion writes: keys in column 0, scalars and flow collections on one line, lists of them indented
 * by two. About twenty times as fast as a YAML parser: without it, an import takes 1.8 × the CPU time. `undefined` means "not in this
 * subset", never "invalid": any result equals that of the full parser without problems.
 */
export function readPlainYaml(text: string): YamlMap | undefined {
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
  const map: YamlMap = Object.create(null)
  for (let at = 0; at < lines.length; ) {
    const line = lines[at++] ?? ''
    const match = topKey.exec(line)
    const key = match?.[1]
    if (!match || key === undefined || key in map || inheritedNames.has(key)) return undefined
    const source = line.slice(match[0].length)
    if (source !== '') {
      const value = readInline(source)
      if (value === undefined) return undefined
      map[key] = value
      continue
    }
    const items: YamlValue[] = []
    for (let next = lines[at]; next?.startsWith('  - '); next = lines[++at]) {
      const item = readInline(next.slice(4))
      if (item === undefined) return undefined
      items.push(item)
    }
    map[key] = items.length > 0 ? items : ''
  }
  return map
}

function readInline(source: string): YamlValue | undefined {
  if (!/^["[{]/.test(source)) return isPlainScalar(source, 'block') ? source : undefined
  const cursor = { source, at: 0 }
  const value = readFlow(cursor, 0)
  return cursor.at === source.length ? value : undefined
}

type Cursor = { readonly source: string; at: number }

function readFlow(cursor: Cursor, depth: number): YamlValue | undefined {
  const first = cursor.source[cursor.at]
  if (first === '"') return readQuoted(cursor)
  if (depth === maxFlowDepth) return undefined
  if (first === '[') return readFlowList(cursor, depth + 1)
  if (first === '{') return readFlowMap(cursor, depth + 1)
  const text = take(cursor, plain)
  if (text === undefined) return undefined
  let end = text.length
  while (text[end - 1] === ' ') end--
  const scalar = text.slice(0, end)
  return isPlainScalar(scalar, 'flow') ? scalar : undefined
}

function readQuoted(cursor: Cursor): string | undefined {
  const text = take(cursor, quoted)
  try {
    return text === undefined ? undefined : String(JSON.parse(text))
  } catch {
    return undefined
  }
}

function readFlowList(cursor: Cursor, depth: number): YamlValue[] | undefined {
  const items: YamlValue[] = []
  if (opensEmpty(cursor, ']')) return items
  do {
    const item = readFlow(cursor, depth)
    if (item === undefined) return undefined
    items.push(item)
  } while (hasNext(cursor))
  return closes(cursor, ']') ? items : undefined
}

function readFlowMap(cursor: Cursor, depth: number): YamlMap | undefined {
  const map: YamlMap = Object.create(null)
  if (opensEmpty(cursor, '}')) return map
  do {
    const key = take(cursor, flowKey)?.slice(0, -2)
    if (key === undefined || key in map || inheritedNames.has(key)) return undefined
    const value = readFlow(cursor, depth)
    if (value === undefined) return undefined
    map[key] = value
  } while (hasNext(cursor))
  return closes(cursor, '}') ? map : undefined
}

function opensEmpty(cursor: Cursor, close: string): boolean {
  cursor.at++
  take(cursor, spaces)
  return closes(cursor, close)
}

function hasNext(cursor: Cursor): boolean {
  take(cursor, spaces)
  if (cursor.source[cursor.at] !== ',') return false
  cursor.at++
  take(cursor, spaces)
  return true
}

function closes(cursor: Cursor, close: string): boolean {
  if (cursor.source[cursor.at] !== close) return false
  cursor.at++
  return true
}

function take(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at
  const text = pattern.exec(cursor.source)?.[0]
  if (text !== undefined) cursor.at += text.length
  return text
}

/** YAML value in which every scalar is text. Maps have no prototype. */
export type YamlValue = string | YamlValue[] | YamlMap
export type YamlMap = { [key: string]: YamlValue }

/** Context of a scalar: a line of its own, or between `[` `,` `{` `:`. */
type ScalarContext = 'block' | 'flow'

const indicatorFirst = /^[-?:,[\]{}#&*!|>'"%@`=<~. ]/
/** Matches controls, format characters, lone surrogates, and every space but U+0020, which tools treat differently outside of quotes. */
const fragile = /\p{C}|(?! )\p{Z}/u
const flowIndicator = /[,[\]{}:]/

const typedWord = /^(?:null|true|false|yes|no|on|off|y|n)$/i
const typedNumber =
  /^[-+]?(?:[\d_.,]+(?:e[-+]?\d+)?|0x[\da-f_]+|0o[0-7_]+|0b[01_]+|\d[\d_]*(?::\d+)+(?:\.[\d_]*)?|\.?(?:inf|nan))$/i
const typedDate = /^\d{4}-\d{1,2}-\d{1,2}(?:$|[tT\s])/

/** True if `text` without quotes is a YAML scalar that is parsed back as the same text. Conservative, on one line. */
function isPlainScalar(text: string, context: ScalarContext): boolean {
  return (
    text !== '' &&
    !indicatorFirst.test(text) &&
    !text.endsWith(' ') &&
    !text.endsWith(':') &&
    !text.includes(': ') &&
    !text.includes(' #') &&
    !(context === 'flow' && flowIndicator.test(text)) &&
    !fragile.test(text)
  )
}

/** Formats text so that tools of YAML 1.1 and 1.2 parse it back as the same text: plain if that is certain, else quoted. */
export function formatScalar(text: string, context: ScalarContext): string {
  const typed = typedWord.test(text) || typedNumber.test(text) || typedDate.test(text)
  // A question mark opens a key in a flow collection of YAML 1.1.
  const opensKey = context === 'flow' && text.includes('?')
  return !typed && !opensKey && isPlainScalar(text, context) ? text : quote(text)
}

/**
 * Quotes as JSON, whose escapes are also YAML's, and escapes characters that JSON leaves raw but YAML 1.1 takes for a line break or a
 * control.
 */
function quote(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

import { createRequire } from 'node:module'
import type { LineEnding } from '../../rules/text/line-endings.ts'
import { type MendedYaml, mendYaml } from '../yaml/mend-yaml.ts'
import {
  definedEntries,
  formatFlow,
  formatScalar,
  maxYamlBytes,
  parseFullYaml,
  readPlainYaml,
  type YamlInput,
  type YamlInputMap,
  type YamlMap,
} from '../yaml/yaml.ts'

/** Problem of front matter. `line`: 1-based in the file. */
export type FrontMatterProblem = {
  rule:
    | 'front-matter-unclosed'
    | 'front-matter-too-large'
    | 'front-matter-yaml'
    | 'front-matter-not-a-map'
    | 'front-matter-unread'
  message: string
  line: number
}

export type FrontMatter = {
  /** Parsed data, without a prototype. Empty if there is none or none could be parsed. */
  data: YamlMap
  body: string
  /** Offset of the body in the text. */
  bodyStart: number
  /** 1-based line of the body's start. */
  bodyLine: number
  problems: FrontMatterProblem[]
  /** Repaired block, if the block has problems and a part of it can be parsed. */
  mended?: string
  /** True if `mended` lacks a part of the original block. */
  isCut?: boolean
  /** True if an unparsed part may restrict the readers. `data` then has the empty audience. */
  mayHide: boolean
}

/** Positions of the parts of a file. `eol`: line ending of the opening delimiter, or else of the text's first line. */
export type FileLayout = { eol: LineEnding; bodyStart: number } & (
  | { kind: 'none' }
  | { kind: 'unclosed' }
  | { kind: 'block'; yaml: string; yamlStart: number }
)
const require = createRequire(import.meta.url)
const opening = /^\uFEFF?---[ \t]*(\r?\n)/
const closing = /(?<=\n)---[ \t]*(?:\r?\n|$)/g
/** Matches the start of front matter in other tools: `+++`, `;;;`, `---json`, or `---` after empty lines. */
const foreignBlock = /^[\s\p{Cf}]*(?:---|\+\+\+|;;;)/u
/** Matches a block of another tool up to its closing line, or a YAML block closed by `...`. */
const foreignHead = /^[\s\p{Cf}]*(?:---|\+\+\+|;;;)[^\n]*\n[\s\S]*?(?<=\n)(?:---|\+\+\+|;;;|\.\.\.)[^\S\n]*(?:\n|$)/u
/** Matches lines that may precede front matter: a heading, a directive, a comment, a delimiter. */
const preamble = /^[\s\p{Cf}]*(?:#|%|<!--|-->|[-+;*=~`–—\\]{3})/u
/** Matches tags with their values, and an audience other than all readers, in any markup. */
const taggedAs = /(?:^|[{,])[^\p{L}\p{N}\n]{0,20}tags?[^\p{L}\p{N}\n]{0,20}[:=][^\n]*(?:\n[^\p{L}\p{N}\n][^\n]*)*/gimu
const seenByFew =
  /(?:^|[{,])[^\p{L}\p{N}\n]{0,20}audience[^\p{L}\p{N}\n]{0,20}[:=](?:[^\p{L}\p{N}]{0,20}(?:curator|tool|student|internal)\b|\s*\[\s*\])/imu
/** Maximum lines for gray-matter, whose search for comments takes time proportional to lines times blanks. */
const maxLines = 1000
const flowWidth = 100

/**
 * Finds front matter: the lines between a first line `---` and the next line `---`, either with trailing blanks. `---js` and similar lines
 * open nothing and belong to the body.
 */
export function fileLayout(text: string): FileLayout {
  const open = opening.exec(text)
  const bodyStart = text.startsWith('\uFEFF') ? 1 : 0
  if (!open) return { kind: 'none', eol: /^[^\n]*\r\n/.test(text) ? '\r\n' : '\n', bodyStart }
  const eol = open[1] === '\r\n' ? '\r\n' : '\n'
  const yamlStart = open[0].length
  closing.lastIndex = yamlStart
  const close = closing.exec(text)
  if (!close) return { kind: 'unclosed', eol, bodyStart }
  const yaml = text.slice(yamlStart, close.index)
  return { kind: 'block', eol, yaml, yamlStart, bodyStart: close.index + close[0].length }
}

/**
 * Parses front matter as plain data (strings, lists and maps) and finds the start of the body. In a block with problems every readable
 * entry counts. Never throws.
 */
export function parseFrontMatter(text: string): FrontMatter {
  const layout = fileLayout(text)
  const { bodyStart } = layout
  const { data, problems, mended } = readData(layout, text)
  const cannotTell = () => headMayHide(text) || (layout.kind === 'block' && namesWhoSees(layout.yaml))
  const isUnread = problems.some(({ rule }) => rule === 'front-matter-unread')
  const mayHide =
    isUnread || (problems.length > 0 && (mended === undefined ? cannotTell() : mended.lost.some(saysWhoSees)))
  if (mayHide) data.audience = []
  return {
    ...{ data, problems, mayHide, body: text.slice(bodyStart), bodyStart, bodyLine: lineAt(text, bodyStart) },
    ...(mended === undefined ? {} : { mended: mended.yaml, isCut: mended.isCut }),
  }
}

/** True if the head of a text that is no readable front matter may restrict the readers. */
export function headMayHide(text: string): boolean {
  const layout = fileLayout(text)
  const head = layout.kind === 'block' ? layout.yaml : (foreignHead.exec(text)?.[0] ?? firstLines(text))
  return /(?:^|[{,])[^\S\n]*"?audience"?\s*[:=]|\binternal\b/im.test(head)
}

/** True if the opening lines of a text restrict the readers in the style of agents and other tools: `**Tags:** internal`. */
export function opensHidden(text: string): boolean {
  const head = openingLines(text)
  return seenByFew.test(head) || (head.match(taggedAs) ?? []).some((tags) => /\binternal\b/i.test(tags))
}

/** Returns the lines of a text up to an empty line that is neither between nor after preamble lines. */
function openingLines(text: string): string {
  let isBehind = false
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    const next = end < 0 ? text.length : end + 1
    const line = text.slice(start, next)
    const isBlank = line.trim() === ''
    if (isBlank && isBehind) return text.slice(0, start)
    if (!isBlank && !preamble.test(line)) isBehind = true
    start = next
  }
  return text
}

/** Returns the lines of a text up to an empty line. */
function firstLines(text: string): string {
  return text.trimStart().split(/\n[^\S\n]*\n/, 1)[0] ?? ''
}

/** True if a line of a block appears to set who may see the page. */
export function namesWhoSees(yaml: string): boolean {
  return /^\s*["']?(?:tags?|audience)["']?\s*:/im.test(yaml)
}

/** True if lost text may set who sees the page. A merge key (`<<`) counts, since it inserts entries from elsewhere. */
function saysWhoSees(lost: string): boolean {
  return /^\s*(?:tags?|audience|<<)\s*$|\b(?:audience|internal)\b/i.test(lost)
}

/** Returns the 1-based line of a top-level key for findings, 1 if unknown. */
export function frontMatterKeyLine(text: string, key: string): number {
  const layout = fileLayout(text)
  if (layout.kind !== 'block') return 1
  const index = layout.yaml.split('\n').findIndex((line) => line.replace(/^\s*["']?/, '').startsWith(key))
  return index < 0 ? 1 : index + 2
}

/** Formats a block with both delimiters, one line for each entry, or for each item of a long list. */
export function formatFrontMatter(entries: YamlInputMap, eol: LineEnding = '\n'): string {
  const lines = definedEntries(entries).flatMap(([key, value]) => entryLines(key, value))
  return ['---', ...lines, '---', ''].join(eol)
}

/** Formats `key: value`, or `key:` with one line for each item if the list holds maps or would be long. */
export function entryLines(key: string, value: YamlInput): string[] {
  const { inline, items } = formatValue(value)
  const name = `${formatScalar(key, 'flow')}:`
  return inline === undefined ? [name, ...items.map((item) => `  ${item}`)] : [`${name} ${inline}`]
}

/** Formats a value as text to follow `key: `, or else as the lines of a block list. */
export function formatValue(value: YamlInput): { inline?: string; items: string[] } {
  if (typeof value === 'string') return { inline: formatScalar(value, 'block'), items: [] }
  const flow = formatFlow(value)
  const isLong = Array.isArray(value) && (flow.length > flowWidth || value.some((item) => typeof item === 'object'))
  return isLong ? { items: value.map((item) => `- ${formatFlow(item)}`) } : { inline: flow, items: [] }
}

/** True if a file's front matter is small enough to be parsed again. */
export function hasReadableSize(text: string): boolean {
  const layout = fileLayout(text)
  return layout.kind !== 'block' || !isTooLarge(layout.yaml)
}

function isTooLarge(yaml: string): boolean {
  return Buffer.byteLength(yaml) > maxYamlBytes || yaml.split('\n').length > maxLines
}

function readData(
  layout: FileLayout,
  text: string,
): { data: YamlMap; problems: FrontMatterProblem[]; mended?: MendedYaml } {
  const empty: YamlMap = Object.create(null)
  if (layout.kind === 'unclosed') {
    return {
      data: empty,
      problems: [problem('front-matter-unclosed', 'The front matter is not closed by a line `---`.')],
    }
  }
  if (layout.kind === 'block' && isTooLarge(layout.yaml)) {
    const message = `Front matter is limited to ${maxYamlBytes} bytes and ${maxLines} lines.`
    return { data: empty, problems: [problem('front-matter-too-large', message)] }
  }
  if (layout.kind === 'none' || layout.yaml.trim() === '') {
    if (!opensHidden(text) && !(layout.kind === 'none' && foreignBlock.test(text) && headMayHide(text))) {
      return { data: empty, problems: [] }
    }
    const message =
      'The page may say in its first lines who sees it, but front matter is YAML between lines `---`, from line 1 on.'
    return { data: empty, problems: [problem('front-matter-unread', message)] }
  }
  const { yaml } = layout
  const plain = readPlainYaml(yaml)
  const { data, problems } = plain === undefined ? readWithGrayMatter(yaml) : { data: plain, problems: [] }
  const findings = problems.map(({ message, line }) => problem('front-matter-yaml', message, line + 1))
  const mended = findings.length === 0 ? undefined : mendYaml(yaml)
  const read = mended && parseFullYaml(mended.yaml)
  if (read?.problems.length === 0 && typeof read.data !== 'string' && !Array.isArray(read.data)) {
    return { data: read.data, problems: findings, ...(mended && { mended }) }
  }
  if (typeof data === 'string' || Array.isArray(data)) {
    if (data !== '') findings.push(problem('front-matter-not-a-map', 'Front matter must be a map of keys to values.'))
    return { data: empty, problems: findings }
  }
  return { data, problems: findings }
}

/**
 * Parses a block with gray-matter. By default gray-matter runs the code of a `---js` block, caches every text, closes a block at `\n---x`
 * but not at the end of the file, and drops an empty line before the body. So it gets one block with an exact end, options (which bypass
 * the cache), a fixed language, and engines that cannot run anything. It is loaded with the first block that is not in plain style, since
 * it brings two more parsers along.
 */
function readWithGrayMatter(yaml: string): ReturnType<typeof parseFullYaml> {
  const matter: typeof import('gray-matter') = require('gray-matter')
  const { data }: { data: { read?: ReturnType<typeof parseFullYaml> } } = matter(`---\n${yaml}---\n`, {
    language: 'yaml',
    delimiters: ['---', '---\n'],
    engines: {
      // gray-matter passes the block with the opening delimiter's line end, and without the last line end.
      yaml: (source) => ({ read: parseFullYaml(`${source.slice(1)}\n`) }),
      javascript: refuse,
      js: refuse,
      json: refuse,
    },
  })
  // gray-matter calls no engine for a block that has only comments.
  return data.read ?? { data: '', problems: [] }
}

function refuse(): never {
  throw new Error('Only YAML is read.')
}

function problem(rule: FrontMatterProblem['rule'], message: string, line = 1): FrontMatterProblem {
  return { rule, message, line }
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

/**
 * Returns the content of a body. A file is front matter, one blank line, content, one newline. The content lacks exactly these two line
 * ends, if present, so that any content survives a round trip byte for byte. `contentStart` is an offset in the body.
 */
export function splitBody(body: string, eol: LineEnding): { content: string; contentStart: number } {
  const contentStart = /^\r?\n/.exec(body)?.[0].length ?? 0
  const rest = body.slice(contentStart)
  const newline = rest.endsWith(eol) ? eol.length : Number(rest.endsWith('\n'))
  return { content: rest.slice(0, rest.length - newline), contentStart }
}

export function joinBody(content: string, eol: LineEnding): string {
  return eol + content + eol
}

/**
 * Replaces the content of a body and keeps its form: with or without the blank line before and the newline after it. Uses the normal form
 * if the body had no content, or if the new content would not survive the round trip.
 */
export function replaceContent(body: string, content: string, eol: LineEnding): string {
  const { content: old, contentStart } = splitBody(body, eol)
  const replaced = body.slice(0, contentStart) + content + body.slice(contentStart + old.length)
  const isSound = old !== '' && splitBody(replaced, eol).content === content
  return isSound ? replaced : joinBody(content, eol)
}

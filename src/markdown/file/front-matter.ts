import { createRequire } from 'node:module'
import type { LineEnding } from '../../rules/text/line-endings.ts'
import { type MendedYaml, mendYaml } from '../yaml/mend-yaml.ts'
import { readPlainYaml } from '../yaml/plain-yaml.ts'
import {
  definedEntries,
  formatFlow,
  maxYamlBytes,
  parseFullYaml,
  type YamlInput,
  type YamlInputMap,
} from '../yaml/yaml.ts'
import { formatScalar } from '../yaml/yaml-scalar.ts'
import type { YamlMap } from '../yaml/yaml-value.ts'

/** `line` is 1-based in the file. */
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
  /** Without a prototype; empty when there is none or nothing could be read. */
  data: YamlMap
  body: string
  /** Offset of the body in the text. */
  bodyStart: number
  /** 1-based line where the body begins. */
  bodyLine: number
  problems: FrontMatterProblem[]
  /** The block without its problems, if it has some and parts of it can be read. */
  mended?: string
  /** Whether that lacks some of the block. */
  isCut?: boolean
  /** Whether what could not be read may say that only some see the page: `data` then has the empty audience. */
  mayHide: boolean
}

/** Where the parts of a file are. `eol` is the line ending of the opening delimiter, or else of the text's first line. */
export type FileLayout = { eol: LineEnding; bodyStart: number } & (
  | { kind: 'none' }
  | { kind: 'unclosed' }
  | { kind: 'block'; yaml: string; yamlStart: number }
)
const require = createRequire(import.meta.url)
const opening = /^\uFEFF?---[ \t]*(\r?\n)/
const closing = /(?<=\n)---[ \t]*(?:\r?\n|$)/g
/** What opens front matter in other tools: `+++`, `;;;`, `---json`, or a `---` behind empty lines. */
const foreignBlock = /^[\s\p{Cf}]*(?:---|\+\+\+|;;;)/u
/** Such a block up to the line that ends it, or the one of YAML that `...` ends. */
const foreignHead = /^[\s\p{Cf}]*(?:---|\+\+\+|;;;)[^\n]*\n[\s\S]*?(?<=\n)(?:---|\+\+\+|;;;|\.\.\.)[^\S\n]*(?:\n|$)/u
/** A line that may stand before front matter: a heading, a directive, a comment, a delimiter. */
const preamble = /^[\s\p{Cf}]*(?:#|%|<!--|-->|[-+;*=~`–—\\]{3})/u
/** Tags and their values, an audience that is not all readers: however they are marked up. */
const taggedAs = /(?:^|[{,])[^\p{L}\p{N}\n]{0,20}tags?[^\p{L}\p{N}\n]{0,20}[:=][^\n]*(?:\n[^\p{L}\p{N}\n][^\n]*)*/gimu
const seenByFew =
  /(?:^|[{,])[^\p{L}\p{N}\n]{0,20}audience[^\p{L}\p{N}\n]{0,20}[:=](?:[^\p{L}\p{N}]{0,20}(?:curator|tool|student|internal)\b|\s*\[\s*\])/imu
/** gray-matter looks for comments in time that grows with lines times blanks. */
const maxLines = 1000
const flowWidth = 100

/**
 * Front matter stands between a first line that is `---` and the next line that is `---`, blanks after them allowed. `---js`
 * and the like open nothing: they are body.
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
 * Reads front matter as data only, of strings, lists and maps, and tells where the body begins. Of a block with problems each entry
 * that can be read counts. Never throws.
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

/** Whether the head of a text, which cannot be read as front matter, may say that only some see the page. */
export function headMayHide(text: string): boolean {
  const layout = fileLayout(text)
  const head = layout.kind === 'block' ? layout.yaml : (foreignHead.exec(text)?.[0] ?? firstLines(text))
  return /(?:^|[{,])[^\S\n]*"?audience"?\s*[:=]|\binternal\b/im.test(head)
}

/** Whether the lines that open a text say that only some see the page, as agents and other tools write it: `**Tags:** internal`. */
export function opensHidden(text: string): boolean {
  const head = openingLines(text)
  return seenByFew.test(head) || (head.match(taggedAs) ?? []).some((tags) => /\binternal\b/i.test(tags))
}

/** The lines of a text up to an empty one that is not between or behind those of the preamble. */
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

/** The lines of a text up to an empty one. */
function firstLines(text: string): string {
  return text.trimStart().split(/\n[^\S\n]*\n/, 1)[0] ?? ''
}

/** Whether a line of a block looks as if it said who sees the page. */
export function namesWhoSees(yaml: string): boolean {
  return /^\s*["']?(?:tags?|audience)["']?\s*:/im.test(yaml)
}

/** A merge key (`<<`) takes entries from elsewhere. */
function saysWhoSees(lost: string): boolean {
  return /^\s*(?:tags?|audience|<<)\s*$|\b(?:audience|internal)\b/i.test(lost)
}

/** 1-based line of a top-level key of the front matter, for findings; 1 when it cannot be seen. */
export function frontMatterKeyLine(text: string, key: string): number {
  const layout = fileLayout(text)
  if (layout.kind !== 'block') return 1
  const index = layout.yaml.split('\n').findIndex((line) => line.replace(/^\s*["']?/, '').startsWith(key))
  return index < 0 ? 1 : index + 2
}

/** A whole block, both delimiters included, with one line for each entry, or for each item of a long list. */
export function formatFrontMatter(entries: YamlInputMap, eol: LineEnding = '\n'): string {
  const lines = definedEntries(entries).flatMap(([key, value]) => entryLines(key, value))
  return ['---', ...lines, '---', ''].join(eol)
}

/** `key: value`, or `key:` and one line for each item where the list holds maps or would be long. */
export function entryLines(key: string, value: YamlInput): string[] {
  const { inline, items } = formatValue(value)
  const name = `${formatScalar(key, 'flow')}:`
  return inline === undefined ? [name, ...items.map((item) => `  ${item}`)] : [`${name} ${inline}`]
}

/** A value as text that may follow `key: `, or, without that, as the lines of a block list. */
export function formatValue(value: YamlInput): { inline?: string; items: string[] } {
  if (typeof value === 'string') return { inline: formatScalar(value, 'block'), items: [] }
  const flow = formatFlow(value)
  const isLong = Array.isArray(value) && (flow.length > flowWidth || value.some((item) => typeof item === 'object'))
  return isLong ? { items: value.map((item) => `- ${formatFlow(item)}`) } : { inline: flow, items: [] }
}

/** Whether a file's front matter is small enough to be read again. */
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
 * gray-matter by itself runs the code of a `---js` block, keeps every text in a cache, closes a block at `\n---x` and not at the
 * end of the file, and drops an empty line before the body. So it gets one block with an exact end, options (they bypass the cache),
 * a fixed language, and engines that cannot run anything. It is loaded with the first block that is not of the plain shape: it
 * brings two more parsers along.
 */
function readWithGrayMatter(yaml: string): ReturnType<typeof parseFullYaml> {
  const matter: typeof import('gray-matter') = require('gray-matter')
  const { data }: { data: { read?: ReturnType<typeof parseFullYaml> } } = matter(`---\n${yaml}---\n`, {
    language: 'yaml',
    delimiters: ['---', '---\n'],
    engines: {
      // It hands over the block with the line end of the opening delimiter, and without the last one.
      yaml: (source) => ({ read: parseFullYaml(`${source.slice(1)}\n`) }),
      javascript: refuse,
      js: refuse,
      json: refuse,
    },
  })
  // A block of comments alone reaches no engine.
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

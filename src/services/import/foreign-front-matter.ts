import { parse, type TomlValue } from 'smol-toml'
import { formatFrontMatter, parseFrontMatter } from '../../markdown/file/front-matter.ts'
import type { YamlInput } from '../../markdown/yaml/yaml.ts'

const tomlBlock = /^\s*\+\+\+[ \t]*\r?\n(.*?)(?<=\n)\+\+\+[ \t]*(?:\r?\n|$)/s
const logseqProperty = /^([\p{L}\p{N}][^\s:]*)::[ \t](.*)$/u
const logseqLists: ReadonlySet<string> = new Set(['tags', 'tag', 'alias', 'aliases'])

/**
 * Returns a note with the front matter of another tool as YAML from its first line on: TOML, as Hugo has it, YAML behind empty
 * lines, or the properties of a Logseq page. A note without such is returned as it is.
 */
export function withFrontMatter(text: string): string {
  const toml = tomlBlock.exec(text)
  if (toml !== null) {
    const entries = fromToml(toml[1] ?? '')
    return entries === undefined ? text : formatFrontMatter(entries) + text.slice(toml[0].length)
  }
  const trimmed = text.replace(/^\s*\n(?=---[ \t]*\r?\n)/, '')
  if (trimmed !== text) return Object.keys(parseFrontMatter(trimmed).data).length > 0 ? trimmed : text
  return fromLogseq(text)
}

function fromToml(toml: string): Record<string, YamlInput> | undefined {
  try {
    return Object.fromEntries(Object.entries(parse(toml)).map(([key, value]) => [key, inputOf(value)]))
  } catch {
    return undefined
  }
}

function inputOf(value: TomlValue): YamlInput {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(inputOf)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inputOf(item)]))
}

function fromLogseq(text: string): string {
  const lines = text.split('\n')
  const entries: Record<string, YamlInput> = {}
  let at = 0
  for (; at < lines.length; at++) {
    const [, key, value = ''] = logseqProperty.exec(lines[at]?.trimEnd() ?? '') ?? []
    if (key === undefined) break
    const isList = logseqLists.has(key.toLowerCase())
    entries[key] = isList ? value.split(',').map((item) => item.trim().replace(/^#?\[\[(.*)\]\]$/, '$1')) : value
  }
  return at === 0 ? text : formatFrontMatter(entries) + lines.slice(at).join('\n')
}

import { parse, type TomlValue } from 'smol-toml'
import { z } from 'zod'
import type { YamlInput } from '../yaml/yaml.ts'
import { fileLayout, formatFrontMatter, parseFrontMatter } from './front-matter.ts'

/** Matches YAML, or JSON as its subset, between delimiters that differ from ours. */
const yamlBlock =
  /^[\s\p{Cf}]*(?:%YAML[^\n]*\n)?(?:---[ \t]{0,9}(?:json|ya?ml)?|;;;)[ \t]{0,9}(?:#[^\n]*)?\r?\n(.*?)(?<=\n)(?:---|;;;)[ \t]{0,9}(?:#[^\n]*)?(?:\n|$)/su
const tomlBlock = /^\s*\+\+\+[ \t]*\r?\n(.*?)(?<=\n)\+\+\+[ \t]*(?:\r?\n|$)/s
const ZolaTags = z.object({ taxonomies: z.object({ tags: z.array(z.string()) }) })
const logseqProperty = /^([\p{L}\p{N}][^\s:]*)::[ \t](.*)$/u
const logseqLists: ReadonlySet<string> = new Set(['tags', 'tag', 'alias', 'aliases'])

/**
 * Converts the front matter of other tools to YAML at the first line: TOML as in Hugo, YAML after empty lines or a directive, JSON between
 * `---json` or `;;;`, and the properties of a Logseq page. Returns any other text unchanged.
 */
export function withFrontMatter(text: string): string {
  const toml = tomlBlock.exec(text)
  if (toml !== null) {
    const entries = fromToml(toml[1] ?? '')
    return entries === undefined ? text : formatFrontMatter(entries) + text.slice(toml[0].length)
  }
  const yaml = fileLayout(text).kind === 'block' ? null : yamlBlock.exec(text)
  if (yaml === null) return fromLogseq(text)
  const read = `---\n${yaml[1]}---\n${text.slice(yaml[0].length)}`
  return Object.keys(parseFrontMatter(read).data).length > 0 ? read : text
}

function fromToml(toml: string): Record<string, YamlInput> | undefined {
  try {
    const table = parse(toml)
    const { data: zola } = ZolaTags.safeParse(table)
    return Object.fromEntries(
      Object.entries({ ...zola?.taxonomies, ...table }).map(([key, value]) => [key, inputOf(value)]),
    )
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

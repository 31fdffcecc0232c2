import { isDeepStrictEqual } from 'node:util'
import { type Conflict, type Merge, mergeText } from '../../rules/neurons/merge.ts'
import { unixLines } from '../../rules/text/line-endings.ts'
import { entryLines, fileLayout, parseFrontMatter } from '../file/front-matter.ts'
import { editFrontMatter, FrontMatterError } from '../file/front-matter-edit.ts'
import { editNeuron, parseNeuronFile } from '../file/neuron-file.ts'
import type { YamlMap, YamlValue } from '../yaml/yaml.ts'

/**
 * Merges three versions of a page: front matter by keys, as in `mergeBlocks`, and content by lines. Line numbers of conflicts refer to the
 * current file. Merges by lines alone if front matter cannot be parsed.
 */
export function mergePages({ base, current, proposed }: Versions<string>): Merge {
  if (current === proposed || base === proposed) return { text: current }
  if (base === current) return { text: proposed }
  const pages = { base: partsOf(base), current: partsOf(current), proposed: partsOf(proposed) }
  const { contentLine, body } = pages.current
  const block = mergeBlocks(
    { base: pages.base.block, current: pages.current.block, proposed: pages.proposed.block },
    new Set(),
  )
  const content = mergeText(pages.base.content, pages.current.content, pages.proposed.content)
  if ('text' in block && 'text' in content) {
    try {
      return { text: editNeuron(block.text + body, {}, content.text) }
    } catch (error) {
      if (!(error instanceof FrontMatterError)) throw error
      return mergeText(base, current, proposed)
    }
  }
  const inContent = 'text' in content ? [] : content.conflicts
  return {
    conflicts: [
      ...('text' in block ? [] : block.conflicts),
      ...inContent.map((conflict) => ({ ...conflict, line: conflict.line + contentLine - 1 })),
    ],
  }
}

function partsOf(page: string) {
  const { bodyStart } = fileLayout(page)
  const { content, contentLine } = parseNeuronFile(page)
  return { block: page.slice(0, bodyStart), body: page.slice(bodyStart), content, contentLine }
}

/**
 * Merges three versions of a front matter block, `---` lines included, by key; see `mergeFields`. The current block keeps its order, line
 * endings, and the text around values. Merges by lines if one of the blocks cannot be parsed.
 */
export function mergeBlocks(blocks: Versions<string>, told: ReadonlySet<string>): Merge {
  const read = ofEach(blocks, parseFrontMatter)
  if ([read.base, read.current, read.proposed].some(({ problems }) => problems.length > 0))
    return mergeText(blocks.base, blocks.current, blocks.proposed)

  const versions = ofEach(read, ({ data }) => data)
  const { fields, settled, conflicts } = mergeFields(versions, told)
  if (conflicts.length > 0) return { conflicts: conflicts.map((key) => conflictOf(key, blocks, versions)) }
  const valuesOf = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, fields[key]]))
  const isKept = (key: string) => isDeepStrictEqual(fields[key], versions.current[key])
  const merged = mergeEntries(
    ofEach(blocks, (block) => editFrontMatter(block, valuesOf(settled))),
    isKept,
  )
  if (isOf(merged, fields)) return { text: merged }
  return { text: editFrontMatter(blocks.current, valuesOf(Object.keys({ ...versions.current, ...fields }))) }
}

/**
 * Merges the lines of each key separately, so that values keep their quotes. Lines that conflict, for instance in a comment, are the
 * proposal's if its value is.
 */
function mergeEntries(blocks: Versions<string>, isKept: (key: string) => boolean): string {
  const { bodyStart, ...layout } = fileLayout(blocks.current)
  if (layout.kind !== 'block') return blocks.current
  const { eol, yaml, yamlStart } = layout
  const entriesLike = (block: string) => entriesOf(block.replace(/\r?\n/g, eol))
  const entries = { ...ofEach(blocks, entriesLike), current: entriesOf(blocks.current) }
  const keys = [...new Set([...entries.current.keys(), ...entries.proposed.keys()])]
  const merged = keys.map((key) => {
    const versions = ofEach(entries, (of) => of.get(key) ?? '')
    const lines = mergeText(versions.base, versions.current, versions.proposed)
    return 'text' in lines ? lines.text : isKept(key) ? versions.current : versions.proposed
  })
  return blocks.current.slice(0, yamlStart) + merged.join('') + blocks.current.slice(yamlStart + yaml.length)
}

function isOf(block: string, fields: YamlMap): boolean {
  const { data, problems } = parseFrontMatter(block)
  return problems.length === 0 && isDeepStrictEqual(data, fields)
}

function conflictOf(key: string, blocks: Versions<string>, versions: Versions<YamlMap>): Conflict {
  const before: string[] = ['---\n']
  for (const [other, lines] of entriesOf(blocks.current)) {
    if (other === key) break
    before.push(lines)
  }
  const textOf = (side: keyof Versions<string>) => unixLines(entryOf(key, blocks[side], versions[side]))
  const sides = { base: textOf('base'), current: textOf('current'), proposed: textOf('proposed') }
  return { line: before.join('').split('\n').length, ...sides }
}

/** Returns the entry as written, or in Ganglion's own form if its lines cannot be separated from others. */
function entryOf(key: string, block: string, { [key]: value }: YamlMap): string {
  if (value === undefined) return ''
  const written = entryLines(key, value).map((line) => `${line}\n`)
  return entriesOf(block).get(key) ?? written.join('')
}

/** Returns the lines of each key, with the comments below it. Lines above the first key are under the empty key. */
function entriesOf(block: string): Map<string, string> {
  const layout = fileLayout(block)
  const yaml = layout.kind === 'block' ? layout.yaml : ''
  const entries = new Map<string, string>()
  let key = ''
  for (const line of yaml.match(/[^\n]*\n/g) ?? []) {
    key = /^([^\s#"'[\]{},&*!|>%@`?-][^\n]*?):\s/.exec(line)?.[1] ?? key
    entries.set(key, (entries.get(key) ?? '') + line)
  }
  return entries
}

function ofEach<From, To>({ base, current, proposed }: Versions<From>, of: (version: From) => To): Versions<To> {
  return { base: of(base), current: of(current), proposed: of(proposed) }
}

/** Three versions of a text, of its fields, or of one field. */
type Versions<T> = { base: T; current: T; proposed: T }

type FieldMerge = {
  /** The merged fields; fields in conflict are left out. */
  fields: YamlMap
  /** Keys whose merged value differs from both sides. */
  settled: string[]
  /** Keys that both sides changed in different ways; those of the current version first. */
  conflicts: string[]
}

/** Keys that record where a version came from. They do not count as edits. */
const provenance: ReadonlySet<string> = new Set(['connector', 'sourceUrl', 'candidate', 'metadata', 'sources'])
const sets: ReadonlySet<string> = new Set(['tags', 'aliases', 'edges'])

/**
 * Merges three versions by top-level keys. A value that one side changed is taken from it. If both changed it, `tags`, `aliases` and
 * `edges` are merged by element, provenance is the proposal's, and anything else is a conflict. For the keys `told`, the proposal's value
 * wins even if it changes nothing.
 */
export function mergeFields({ base, current, proposed }: Versions<YamlMap>, told: ReadonlySet<string>): FieldMerge {
  const fields: YamlMap = Object.create(null)
  const settled: string[] = []
  const conflicts: string[] = []
  for (const key of new Set([...Object.keys(current), ...Object.keys(proposed)])) {
    const versions = { base: base[key], current: current[key], proposed: proposed[key] }
    const changed = changeOfOneSide(versions)
    const isTold = told.has(key) && versions.proposed !== undefined
    const merged = isTold ? { value: versions.proposed } : (changed ?? changeOfBoth(key, versions))
    if (merged === undefined) conflicts.push(key)
    else {
      if (merged.value !== undefined) fields[key] = merged.value
      if (!isDeepStrictEqual(merged, changed)) settled.push(key)
    }
  }
  return { fields, settled, conflicts }
}

/** Value of a key; undefined if the key is absent. */
type Value = YamlValue | undefined

function changeOfOneSide({ base, current, proposed }: Versions<Value>): { value: Value } | undefined {
  if (isDeepStrictEqual(current, proposed) || isDeepStrictEqual(base, proposed)) return { value: current }
  return isDeepStrictEqual(base, current) ? { value: proposed } : undefined
}

function changeOfBoth(key: string, versions: Versions<Value>): { value: Value } | undefined {
  if (provenance.has(key)) return { value: versions.proposed ?? versions.current }
  return sets.has(key) ? mergeSets(key, versions) : undefined
}

/** Keeps the current elements in order, without those that the proposal removes, and appends those that it adds. */
function mergeSets(key: string, versions: Versions<Value>): { value: Value } | undefined {
  const base = elementsOf(key, versions.base)
  const current = elementsOf(key, versions.current)
  const proposed = elementsOf(key, versions.proposed)
  if (base === undefined || current === undefined || proposed === undefined) return undefined
  const kept = [...current].filter(([id]) => proposed.has(id) || !base.has(id))
  const added = [...proposed].filter(([id]) => !current.has(id) && !base.has(id))
  if (added.length === 0 && kept.length === current.size) return { value: versions.current }
  const merged = [...kept, ...added].map(([, element]) => element)
  return { value: merged.length === 0 ? undefined : merged }
}

/** Returns elements by their identity, or undefined if the value is neither a list nor text that represents one. */
function elementsOf(key: string, value: Value): Map<string, YamlValue> | undefined {
  if (value === undefined || value === '') return new Map()
  const isTexts = typeof value === 'string' && key !== 'edges'
  const elements = isTexts ? value.split(',').map((part) => part.trim()) : value
  if (!Array.isArray(elements)) return undefined
  const isTag = key === 'tags'
  const idOf = (element: YamlValue) =>
    canonical(isTag && typeof element === 'string' ? element.replace(/^#/, '') : element)
  return new Map(elements.filter((element) => element !== '').map((element) => [idOf(element), element]))
}

/** Returns the same text for equal values, whatever the order of their keys. */
function canonical(value: YamlValue): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`)
  return `{${entries.sort().join()}}`
}

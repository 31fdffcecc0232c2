import { isDeepStrictEqual } from 'node:util'
import type { YamlMap, YamlValue } from '../yaml/yaml-scalar.ts'

/** Three versions of a text, of its fields, or of one field. */
export type Versions<T> = { base: T; current: T; proposed: T }

export type FieldMerge = {
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

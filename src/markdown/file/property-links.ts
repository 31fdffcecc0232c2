import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { linksInLine } from '../links/pattern-links.ts'
import type { YamlMap, YamlValue } from '../yaml/yaml.ts'

/** Link in a curator's own front matter, which has no line of the content. */
export type PropertyLink = Omit<WikiLink, 'line'>

/**
 * Returns the links in the values of a curator's own keys, as in Obsidian's properties: `related: "[[X]]"`, also in lists and maps, and
 * without quotes, which YAML parses as nested lists.
 */
export function propertyLinks(properties: Readonly<Record<string, YamlValue>>): PropertyLink[] {
  return Object.values(properties).flatMap(linksIn)
}

/** Applies a change to each text of the properties. Returns only keys whose value changed. */
export function changeProperties(
  properties: Readonly<Record<string, YamlValue>>,
  change: (text: string) => string,
): Record<string, YamlValue> {
  const changed = Object.entries(properties).map(([key, value]): [string, YamlValue] => [
    key,
    changeTexts(value, change),
  ])
  return Object.fromEntries(changed.filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(properties[key])))
}

function linksIn(value: YamlValue): PropertyLink[] {
  if (typeof value === 'string') return value.includes('[') ? linksInLine(value) : []
  const unquoted = unquotedLink(value)
  if (unquoted !== undefined) return linksInLine(`[[${unquoted}]]`)
  return (Array.isArray(value) ? value : Object.values(value)).flatMap(linksIn)
}

function changeTexts(value: YamlValue, change: (text: string) => string): YamlValue {
  if (typeof value === 'string') return value.includes('[') ? change(value) : value
  const unquoted = unquotedLink(value)
  if (unquoted !== undefined) {
    const changed = change(`[[${unquoted}]]`)
    return changed === `[[${unquoted}]]` ? value : changed
  }
  if (Array.isArray(value)) return value.map((item) => changeTexts(item, change))
  const entries = Object.entries(value).map(([key, item]) => [key, changeTexts(item, change)])
  return Object.fromEntries(entries) as YamlMap
}

/** Returns the target of `[[X]]` without quotes, which YAML parses as a list in a list. */
function unquotedLink(value: YamlValue): string | undefined {
  const [inner, ...others] = Array.isArray(value) ? value : []
  if (others.length > 0 || !Array.isArray(inner) || inner.length !== 1) return undefined
  return typeof inner[0] === 'string' ? inner[0] : undefined
}

import type { Node, Pair } from 'yaml'
import type { YamlInput } from '../yaml/yaml.ts'
import type { YamlValue } from '../yaml/yaml-scalar.ts'
import { formatValue } from './front-matter.ts'

export type YamlPair = Pair<Node, Node | null>
/** Text that replaces a range of a YAML text. */
export type Splice = { start: number; end: number; text: string }

/** Applies splices. @param splices must not overlap */
export function applySplices(yaml: string, splices: readonly Splice[]): string {
  let result = ''
  let at = 0
  for (const { start, end, text } of splices.toSorted((a, b) => a.start - b.start)) {
    result += yaml.slice(at, start) + text
    at = end
  }
  return result + yaml.slice(at)
}

/** Replaces only the value: a comment between the key and the value, or after it on its line, stays. */
export function replacement(yaml: string, pair: YamlPair, value: YamlInput, eol: string, indent: string): Splice {
  const { colonEnd, start, end } = valueRange(yaml, pair)
  const formatted = formatValue(value)
  if (yaml.slice(colonEnd, start).trim() !== '') {
    const text = formatted.inline ?? formatted.items.join(eol + ' '.repeat(columnOf(yaml, start)))
    return { start, end, text }
  }
  const text =
    formatted.inline === undefined
      ? formatted.items.map((item) => `${eol}${indent}  ${item}`).join('')
      : ` ${formatted.inline}`
  return { start: colonEnd, end, text }
}

/** Removes whole lines, from the key's first to the value's last. */
export function removal(yaml: string, pair: YamlPair): Splice {
  return { start: yaml.lastIndexOf('\n', keyStart(pair) - 1) + 1, end: lineEnd(yaml, pair), text: '' }
}

/** Returns the start of the line after a pair. */
export function lineEnd(yaml: string, pair: YamlPair): number {
  const newline = yaml.indexOf('\n', valueRange(yaml, pair).end)
  return newline < 0 ? yaml.length : newline + 1
}

/** Returns the range of a value. An empty value begins and ends right after the colon. */
function valueRange(yaml: string, pair: YamlPair): { colonEnd: number; start: number; end: number } {
  const colon = pair.srcToken?.sep?.find((token) => token.type === 'map-value-ind')
  const colonEnd = (colon?.offset ?? pair.key.range?.[1] ?? 0) + 1
  const [start, rangeEnd] = pair.value?.range ?? [colonEnd, colonEnd]
  let end = rangeEnd
  while (end > start && ' \t\r\n'.includes(yaml.charAt(end - 1))) end--
  return start === end ? { colonEnd, start: colonEnd, end: colonEnd } : { colonEnd, start, end }
}

export function keyStart(pair: YamlPair): number {
  return pair.key.range?.[0] ?? 0
}

export function columnOf(yaml: string, offset: number): number {
  return offset - (yaml.lastIndexOf('\n', offset - 1) + 1)
}

/** Returns a value as `parseYaml` would parse it after writing. */
export function written(value: YamlInput | undefined): YamlValue | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.map((item) => written(item) ?? '')
  const entries = Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : [[key, written(item) ?? '']],
  )
  return Object.assign(Object.create(null), Object.fromEntries(entries))
}

import { isDeepStrictEqual } from 'node:util'
import type { NeuronFile } from '../markdown/file/neuron-file.ts'
import type { NeuronFields, SourceReference, Verified } from '../rules/neurons/neuron.ts'

/** Front matter key, as lines for people. */
export type FieldChange = { name: string; before: string[]; after: string[]; isChanged: boolean }

/** Keys that the server sets, which are not reviewed. */
const own: ReadonlySet<string> = new Set(['seqId', 'id', 'candidate'])

/** Returns the front matter of a page before and after, key by key: keys that Ganglion interprets, then a curator's own. */
export function fieldChanges(before: NeuronFile | undefined, after: NeuronFile | undefined): FieldChange[] {
  const [old, fresh] = [valuesOf(before), valuesOf(after)]
  return [...new Set([...old.keys(), ...fresh.keys()])].map((name) => {
    const lines = { before: old.get(name) ?? [], after: fresh.get(name) ?? [] }
    return { name, ...lines, isChanged: !isDeepStrictEqual(lines.before, lines.after) }
  })
}

function valuesOf(file: NeuronFile | undefined): Map<string, string[]> {
  if (file === undefined) return new Map()
  const known = Object.entries(file.fields).filter(([name]) => !own.has(name))
  const lines = [...known, ...Object.entries(file.extra)].map(([name, value]) => [name, linesOf(name, value)] as const)
  return new Map(lines.filter(([, shown]) => shown.length > 0))
}

function linesOf(name: string, value: unknown): string[] {
  if (value === undefined || value === null || value === false) return []
  if (name === 'edges') return (value as NeuronFields['edges']).map(({ type, target }) => `${type} → ${target}`)
  if (name === 'sources') return (value as NeuronFields['sources']).map(sourceLine)
  if (name === 'verified') return [verifiedLine(value as Verified)]
  if (Array.isArray(value)) return value.map(lineOf)
  return [lineOf(value)]
}

function lineOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function verifiedLine({ at, by, until, edition }: Verified): string {
  const parts = [
    `still true on ${at}`,
    by !== undefined && `says ${by}`,
    until !== undefined && `until ${until}`,
    edition !== undefined && `knowing edition ${edition} of a Source`,
  ]
  return parts.filter((part) => part !== false).join(', ')
}

function sourceLine(source: SourceReference): string {
  return [source.filename ?? source.id ?? 'Source', placeLine(source)].filter((part) => part !== undefined).join(', ')
}

function placeLine({ page, slide, sheet, time }: SourceReference): string | undefined {
  if (page !== undefined) return `${page.includes('-') ? 'pages' : 'page'} ${page.replace('-', '–')}`
  if (slide !== undefined) return `${slide.includes('-') ? 'slides' : 'slide'} ${slide.replace('-', '–')}`
  if (sheet !== undefined) return `sheet ${sheet}`
  return time === undefined ? undefined : `from ${time} seconds`
}

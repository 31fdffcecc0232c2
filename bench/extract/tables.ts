import { ExtractionError } from '../../src/sources/extracted.ts'
import { show } from '../support/measure.ts'
import type { Agreement } from './compare.ts'
import type { Measured } from './measure-document.ts'
import type { DocumentFigures } from './real-documents.ts'
import type { Extent } from './reference.ts'
import type { Target } from './targets.ts'

const quality = ['recall', 'precision', 'order'] as const

export const documentHead = head(
  'document | ms | per second | peak | Markdown | compile, ms | compiled pages | recognised words, confidence | recall | precision | order | reference',
)

export function documentRow(figures: DocumentFigures): string {
  const { name, outcome, extract, compile, memory, pages, extent, agreement } = figures
  if (outcome instanceof ExtractionError) {
    return row([name, show(extract), '', megabytes(memory), `none: ${outcome.problem}`, '', '', '', '', '', '', ''])
  }
  const shares = quality.map((name) => share(agreement?.[name]))
  const speed = perSecond(extent, extract.median)
  const size = kilobytes(outcome.markdown)
  const { words, confidence } = outcome.recognised ?? {}
  const recognised = words === undefined ? '' : `${words}, ${share(confidence)}`
  const cells = [name, show(extract), speed, megabytes(memory), size, show(compile), `${pages}`, recognised]
  return row([...cells, ...shares, agreement?.origin ?? ''])
}

export const summaryHead = head(
  'type | read | refused | ms: median (longest) | peak: most | recall: median (least) | precision | order',
)

/** All documents of one type. */
export function summaryRow(type: string, documents: readonly DocumentFigures[]): string {
  const read = documents.filter(({ outcome }) => !(outcome instanceof ExtractionError))
  const times = documents.map(({ extract }) => extract.median).sort((a, b) => a - b)
  const shares = quality.map((name) => {
    const values = read.flatMap(({ agreement }) => agreement?.[name] ?? []).filter((value) => !Number.isNaN(value))
    values.sort((a, b) => a - b)
    return values.length === 0 ? '' : `${share(middle(values))} (${share(values[0])})`
  })
  return row([
    type,
    `${read.length}`,
    `${documents.length - read.length}`,
    `${middle(times).toFixed(0)} (${times.at(-1)?.toFixed(0)})`,
    megabytes(Math.max(...documents.map(({ memory }) => memory))),
    ...shares,
  ])
}

export const targetHead = head(
  'generated | size | ms | aim | ratio | per second | peak | Markdown | compiled pages | recall | order',
)

export function targetRow(target: Target, size: number, measured: Measured, agreement?: Agreement): string {
  const { name, aim, extent, step } = target
  const { outcome, memory, pages } = measured
  const time = measured[step]
  const aims = [`≤ ${aim.seconds * 1000}`, ...(aim.megabytes === undefined ? [] : [`${aim.megabytes} MB`])].join(', ')
  const markdown = outcome instanceof ExtractionError ? `none: ${outcome.problem}` : kilobytes(outcome.markdown)
  return row([
    name,
    megabytes(size, 1),
    show(time),
    aims,
    `${(time.median / aim.seconds / 1000).toFixed(2)}×`,
    perSecond(extent, time.median),
    megabytes(memory),
    markdown,
    `${pages}`,
    share(agreement?.recall),
    share(agreement?.order),
  ])
}

function head(titles: string): string {
  const columns = titles.split('|').map(() => '---')
  return `| ${titles} |\n| ${columns.join(' | ')} |`
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function perSecond(extent: Extent | undefined, time: number): string {
  if (extent === undefined) return ''
  const speed = (extent.count / time) * 1000
  return `${speed < 10 ? speed.toFixed(1) : speed.toFixed(0)} ${extent.unit}`
}

function share(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? '' : value.toFixed(2)
}

function megabytes(bytes: number, digits = 0): string {
  return `${(bytes / 1e6).toFixed(digits)} MB`
}

function kilobytes(text: string): string {
  return `${(Buffer.byteLength(text) / 1000).toFixed(1)} KB`
}

function middle(sorted: readonly number[]): number {
  return sorted[Math.round((sorted.length - 1) / 2)] ?? Number.NaN
}

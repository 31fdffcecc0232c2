import { formatSection, type NumberSection, numberSections } from './xlsx-number-section.ts'

const dayMs = 86_400_000

/** Reading of a number: as it is, as its format sections show it, or as days since an epoch. */
export type NumberFormat =
  | { kind: 'general' }
  | { kind: 'number'; sections: readonly NumberSection[]; isPercent: boolean }
  | { kind: 'date' | 'datetime' | 'time' }

const general: NumberFormat = { kind: 'general' }

/** @param code of a format (ECMA-376 Part 1, 18.8.31), such as `dd/mm/yyyy` */
export function numberFormat(code: string): NumberFormat {
  const positive = code
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .split(';', 1)[0]
  // Fractions are read as decimals, and texts as they are.
  if (positive === undefined || /^\s*general\s*$/i.test(code) || /[#?0]\s*\/|@/.test(positive)) return general
  const letters = positive.replace(/general|E[+-]/gi, '')
  const hasDay = /[yd]/i.test(letters)
  const hasTime = /[hs]|am\/pm/i.test(letters)
  if (hasDay && hasTime) return { kind: 'datetime' }
  if (hasDay) return { kind: 'date' }
  if (hasTime || /\[m+\]/i.test(letters)) return { kind: 'time' }
  if (/m/i.test(letters)) return { kind: 'date' }
  return { kind: 'number', sections: numberSections(code), isPercent: positive.includes('%') }
}

/** Codes of the formats that have a number (18.8.30). The currency of some is that of the reader's machine, and is left out. */
const builtInCodes: ReadonlyMap<number, string> = new Map([
  [1, '0'],
  [2, '0.00'],
  ...[3, 5, 6, 37, 38, 41, 42].map((id): [number, string] => [id, '#,##0']),
  ...[4, 7, 8, 39, 40, 43, 44].map((id): [number, string] => [id, '#,##0.00']),
  [9, '0%'],
  [10, '0.00%'],
  [11, '0.00E+00'],
  [48, '##0.0E+0'],
])

export function builtInFormat(id: number): NumberFormat {
  if (id === 22) return { kind: 'datetime' }
  if ((id >= 18 && id <= 21) || (id >= 45 && id <= 47)) return { kind: 'time' }
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return { kind: 'date' }
  const code = builtInCodes.get(id)
  return code === undefined ? general : numberFormat(code)
}

/** Returns a number as text: dates as ISO 8601 without a zone, others as their format shows them, or with the 15 digits that Excel shows. */
export function formatNumber(value: number, format: NumberFormat, is1904: boolean): string {
  if (format.kind === 'general') return String(Number(value.toPrecision(15)))
  if (format.kind === 'number') return shownNumber(value, format.sections)
  if (format.kind === 'time') return timeOf(value)
  // Excel takes 1900 for a leap year, as Lotus 1-2-3 did: its days before that February's end are one too many.
  const days = is1904 ? value + 1462 : value < 60 ? value + 1 : value
  const date = new Date(Date.UTC(1899, 11, 30) + Math.round(days * 86_400) * 1000)
  if (value < 0 || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return String(value)
  const iso = date.toISOString()
  const isMidnight = date.getTime() % dayMs === 0
  return format.kind === 'date' && isMidnight ? iso.slice(0, 10) : iso.slice(0, 19).replace(/:00$/, '')
}

/** Sections are for positive numbers, negative numbers, and zero, unless they have conditions of their own. */
function shownNumber(value: number, sections: readonly NumberSection[]): string {
  const [first, second, third] = sections
  // Larger numbers have no decimal notation in JavaScript.
  if (first === undefined || Math.abs(value) >= 1e18) return String(value)
  const conditional = sections.slice(0, 2).find(({ condition }) => condition && holds(value, condition))
  if (conditional !== undefined) return formatSection(value, conditional)
  if (first.condition !== undefined) return formatSection(value, third ?? second ?? first)
  if (value < 0 && second !== undefined) return formatSection(-value, second)
  return formatSection(value, value === 0 && third !== undefined ? third : first)
}

function holds(value: number, { operator, value: bound }: NonNullable<NumberSection['condition']>): boolean {
  if (operator === '=') return value === bound
  if (operator === '<>') return value !== bound
  if (operator.startsWith('<')) return value < bound || (operator === '<=' && value === bound)
  return value > bound || (operator === '>=' && value === bound)
}

function timeOf(value: number): string {
  const seconds = Math.round(Math.abs(value) * 86_400)
  const pad = (part: number) => String(part).padStart(2, '0')
  const sign = value < 0 ? '-' : ''
  return `${sign}${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`
}

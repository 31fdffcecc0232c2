const dayMs = 86_400_000

/** How a number is to be read: as what it is, as a part of a hundred, or as days since an epoch. */
export type NumberFormat =
  | { kind: 'general' }
  | { kind: 'percent'; decimals: number }
  | { kind: 'date' | 'datetime' | 'time' }

const general: NumberFormat = { kind: 'general' }

/** @param code of a format (ECMA-376 Part 1, 18.8.31), such as `dd/mm/yyyy` */
export function numberFormat(code: string): NumberFormat {
  const positive = code
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .split(';', 1)[0]
  if (positive === undefined || /general/i.test(positive)) return general
  if (positive.includes('%')) return { kind: 'percent', decimals: /\.([0#?]+)/.exec(positive)?.[1]?.length ?? 0 }
  const hasDay = /[yd]/i.test(positive)
  const hasTime = /[hs]|am\/pm/i.test(positive)
  if (hasDay && hasTime) return { kind: 'datetime' }
  if (hasDay) return { kind: 'date' }
  if (hasTime || /\[m+\]/i.test(positive)) return { kind: 'time' }
  return /m/i.test(positive) ? { kind: 'date' } : general
}

/** The formats that have a number and no code (18.8.30). */
export function builtInFormat(id: number): NumberFormat {
  if (id === 9) return { kind: 'percent', decimals: 0 }
  if (id === 10) return { kind: 'percent', decimals: 2 }
  if (id === 22) return { kind: 'datetime' }
  if ((id >= 18 && id <= 21) || (id >= 45 && id <= 47)) return { kind: 'time' }
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return { kind: 'date' }
  return general
}

/** A number as text: dates as ISO 8601 without a zone, numbers with the 15 digits that Excel shows. */
export function formatNumber(value: number, format: NumberFormat, is1904: boolean): string {
  if (format.kind === 'general') return String(Number(value.toPrecision(15)))
  if (format.kind === 'percent') return `${Number((value * 100).toFixed(Math.min(format.decimals, 10)))}%`
  if (format.kind === 'time') return timeOf(value)
  // Excel takes 1900 for a leap year, as Lotus 1-2-3 did: its days before that February's end are one too many.
  const days = is1904 ? value + 1462 : value < 60 ? value + 1 : value
  const date = new Date(Date.UTC(1899, 11, 30) + Math.round(days * 86_400) * 1000)
  if (value < 0 || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return String(value)
  const iso = date.toISOString()
  const isMidnight = date.getTime() % dayMs === 0
  return format.kind === 'date' && isMidnight ? iso.slice(0, 10) : iso.slice(0, 19).replace(/:00$/, '')
}

function timeOf(value: number): string {
  const seconds = Math.round(Math.abs(value) * 86_400)
  const pad = (part: number) => String(part).padStart(2, '0')
  const sign = value < 0 ? '-' : ''
  return `${sign}${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`
}

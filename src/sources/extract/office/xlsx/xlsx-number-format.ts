const dayMs = 86_400_000

/** Reading of a number: as it is, as its format sections show it, or as days since an epoch. */
export type NumberFormat =
  | { kind: 'general' }
  | { kind: 'number'; sections: readonly NumberSection[]; isPercent: boolean }
  | { kind: 'date' | 'datetime' | 'time' }

const general: NumberFormat = { kind: 'general' }

/** Parses a format code (ECMA-376 Part 1, 18.8.31), such as `dd/mm/yyyy`. */
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

type Token =
  | { kind: 'literal'; text: string }
  | { kind: 'digit'; sign: '0' | '#' | '?' }
  | { kind: 'point' | 'general' }
  | { kind: 'exponent'; plus: boolean; digits: number }

/** A section of a number format (ECMA-376 Part 1, 18.8.31), such as `[$USD] #,##0.00`. */
export type NumberSection = {
  tokens: Token[]
  /** Power of ten by which the value is multiplied: 2 for each `%`, -3 for each comma behind the digits. */
  scale: number
  isGrouped: boolean
  condition: { operator: string; value: number } | undefined
}

const part = /"([^"]*)"|\\(.)|_.|\*.|\[([^\]]*)\]|(General)|E([+-])(0+)|([0#?])|(,)|(\.)|(%)|([\s\S])/giu
const maxDecimals = 30

/** Returns the sections of a format code. They are separated by semicolons that are not quoted. */
function numberSections(code: string): NumberSection[] {
  const sections = code.match(/(?:"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]|[^;"])+|(?<=^|;)(?=;|$)/gu) ?? []
  return sections.map(parseSection)
}

function parseSection(code: string): NumberSection {
  const section: NumberSection = { tokens: [], scale: 0, isGrouped: false, condition: undefined }
  const { tokens } = section
  const literal = (text: string) => tokens.push({ kind: 'literal', text })
  let commas = 0
  for (const match of code.matchAll(part)) {
    const [all, quoted, escaped, bracket, general, sign, exponent, digit, comma, point, percent, other] = match
    if (digit !== undefined) {
      section.isGrouped ||= commas > 0
      commas = 0
      tokens.push({ kind: 'digit', sign: digit as '0' | '#' | '?' })
    } else if (comma !== undefined && tokens.some(({ kind }) => kind === 'digit')) commas++
    else if (point !== undefined) tokens.push({ kind: 'point' })
    else if (general !== undefined) tokens.push({ kind: 'general' })
    else if (exponent !== undefined) tokens.push({ kind: 'exponent', plus: sign === '+', digits: exponent.length })
    else if (percent !== undefined) {
      section.scale += 2
      literal('%')
    } else if (bracket !== undefined) {
      const [, operator, value] = /^(<=|>=|<>|<|>|=)\s*(-?[\d.]+)$/.exec(bracket) ?? []
      if (operator !== undefined) section.condition = { operator, value: Number(value) }
      else literal(/^\$([^-]*)/.exec(bracket)?.[1] ?? '')
    } else if (!/^[_*]./u.test(all)) literal(quoted ?? escaped ?? comma ?? other ?? '')
  }
  section.scale -= 3 * commas
  return section
}

/** Returns a value as a section shows it. The sign of the value is written in front. */
function formatSection(value: number, { tokens, scale, isGrouped }: NumberSection): string {
  const scaled = scale === 0 ? value : decimal(value, scale)
  const exponentAt = tokens.findIndex(({ kind }) => kind === 'exponent')
  const point = tokens.findIndex(({ kind }) => kind === 'point')
  const whole = tokens.slice(0, point < 0 ? tokens.length : point)
  const fraction = point < 0 ? [] : tokens.slice(point + 1)
  const decimals = Math.min(fraction.filter(({ kind }) => kind === 'digit').length, maxDecimals)
  const exponent = exponentAt < 0 || scaled === 0 ? 0 : Math.floor(Math.log10(Math.abs(scaled)))
  const digits = rounded(Math.abs(exponentAt < 0 ? scaled : decimal(scaled, -exponent)), decimals)
  const [integer = '', rest = ''] = digits.split('.')
  const end = (token: Token) => {
    if (token.kind === 'literal') return token.text
    if (token.kind === 'general') return String(Math.abs(Number(scaled.toPrecision(15))))
    if (token.kind !== 'exponent') return ''
    return `E${exponent < 0 ? '-' : token.plus ? '+' : ''}${String(Math.abs(exponent)).padStart(token.digits, '0')}`
  }
  const text = wholeText(whole, integer, isGrouped, end) + fractionText(fraction, rest, end)
  return value < 0 && /[1-9]/.test(digits) ? `-${text.trim()}` : text.trim()
}

/** Returns the digits before the decimal point, filled from the right. The first place takes all remaining digits. */
function wholeText(
  tokens: readonly Token[],
  integer: string,
  isGrouped: boolean,
  end: (token: Token) => string,
): string {
  const first = tokens.findIndex(({ kind }) => kind === 'digit')
  let left = integer === '0' ? '' : integer
  let text = ''
  let count = 0
  const put = (digit: string) => {
    text = digit + (isGrouped && count > 0 && count % 3 === 0 ? ',' : '') + text
    count++
  }
  for (const [at, token] of [...tokens.entries()].reverse()) {
    if (token.kind !== 'digit') text = end(token) + text
    else {
      if (left !== '') put(left.at(-1) ?? '')
      else if (token.sign === '0') put('0')
      left = left.slice(0, -1)
      for (; at === first && left !== ''; left = left.slice(0, -1)) put(left.at(-1) ?? '')
    }
  }
  return text
}

/** Returns the decimal point and the digits behind it. A trailing zero is shown only for a `0` in the format. */
function fractionText(tokens: readonly Token[], digits: string, end: (token: Token) => string): string {
  const signs = tokens.flatMap((token) => (token.kind === 'digit' ? [token.sign] : []))
  const shown = Math.max(signs.lastIndexOf('0') + 1, digits.replace(/0+$/, '').length)
  let at = 0
  const text = tokens.map((token) => {
    if (token.kind !== 'digit') return end(token)
    at++
    return at <= shown ? (digits[at - 1] ?? '') : ''
  })
  return (shown > 0 ? '.' : '') + text.join('')
}

/** Rounds halves away from zero in decimal digits, as spreadsheets do. */
function rounded(value: number, decimals: number): string {
  const exact = Number(value.toPrecision(15))
  return decimal(Math.round(decimal(exact, decimals)), -decimals).toFixed(decimals)
}

function decimal(value: number, power: number): number {
  const [digits, exponent = '0'] = String(value).split('e')
  return Number(`${digits}e${Number(exponent) + power}`)
}

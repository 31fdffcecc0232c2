const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  any: (value) => value !== undefined,
  absent: (value) => value === undefined,
  null: (value) => value === null,
  string: (value) => typeof value === 'string',
  text: (value) => typeof value === 'string' && value.trim() !== '',
  number: (value) => typeof value === 'number',
  int: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  uuid: (value) => isLike(value, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i),
  time: (value) => isLike(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d/) && !Number.isNaN(Date.parse(String(value))),
  seqId: (value) => isLike(value, /^[a-z0-9-]+_[0-9]{8}$/),
}

type Check = (value: unknown, wanted: unknown, place: string) => string[]

/** Operators of matchers: the keys of an object that begin with `$`. */
const operators: Readonly<Record<string, Check>> = {
  $is: (value, wanted, place) => matchValue(value, wanted, place),
  $match: (value, wanted, place) =>
    fault(isLike(value, new RegExp(String(wanted), 's')), place, `to match ${wanted}`, value),
  $contains: (value, wanted, place) =>
    fault(String(value).includes(String(wanted)), place, `to contain ${show(wanted)}`, value),
  $min: (value, wanted, place) =>
    fault(typeof value === 'number' && value >= Number(wanted), place, `at least ${wanted}`, value),
  $max: (value, wanted, place) =>
    fault(typeof value === 'number' && value <= Number(wanted), place, `at most ${wanted}`, value),
  $length: (value, wanted, place) => matchValue(lengthOf(value), wanted, `${place}.length`),
  $not: (value, wanted, place) =>
    fault(matchValue(value, wanted, place).length > 0, place, `other than ${show(wanted)}`, value),
  $in: (value, wanted, place) =>
    fault(
      list(wanted).some((each) => matchValue(value, each, place).length === 0),
      place,
      `one of ${show(wanted)}`,
      value,
    ),
  $each: (value, wanted, place) =>
    Array.isArray(value)
      ? value.flatMap((each, at) => matchValue(each, wanted, `${place}[${at}]`))
      : fault(false, place, 'a list', value),
  $some: (value, wanted, place) =>
    fault(
      list(value).some((each) => matchValue(each, wanted, place).length === 0),
      place,
      `an item like ${show(wanted)}`,
      value,
    ),
  $descending: (value, wanted, place) => {
    const numbers = list(value).map((item) => Number(valueAt(item, String(wanted))))
    const isSorted = numbers.every((number, at) => at === 0 || number <= (numbers[at - 1] ?? 0))
    return fault(isSorted, place, `to descend by ${wanted}`, numbers)
  },
}

/** Compares a value with a matcher and returns a line for each difference. Fields that the matcher does not name are ignored. */
export function matchValue(value: unknown, matcher: unknown, place: string): string[] {
  if (typeof matcher === 'string' && /^\$[a-zA-Z]+(?:\|[a-zA-Z]+)*$/.test(matcher)) {
    const names = matcher.slice(1).split('|')
    const unknown = names.find((name) => kinds[name] === undefined)
    if (unknown !== undefined) throw new Error(`There is no kind of value $${unknown}.`)
    const isOne = names.some((name) => kinds[name]?.(value))
    return fault(isOne, place, names.join(' or '), value)
  }
  if (Array.isArray(matcher)) {
    if (!Array.isArray(value) || value.length !== matcher.length)
      return fault(false, place, `${matcher.length} items`, value)
    return matcher.flatMap((each, at) => matchValue(value[at], each, `${place}[${at}]`))
  }
  if (!isObject(matcher)) return fault(Object.is(value, matcher), place, show(matcher), value)
  return Object.entries(matcher).flatMap(([key, wanted]) => {
    if (key.startsWith('$')) {
      const operator = operators[key]
      if (operator === undefined) throw new Error(`There is no matcher ${key}.`)
      return operator(value, wanted, place)
    }
    if (!isObject(value)) return fault(false, place, 'an object', value)
    const name = key.replace(/\?$/, '')
    if (name !== key && value[name] === undefined) return []
    return matchValue(value[name], wanted, `${place}.${name}`)
  })
}

/** Returns the value at a path such as `chunks.0.title`; `*` stands for all items. `| chars` counts characters, `| count` items. */
export function valueAt(value: unknown, path: string): unknown {
  const [names = '', measure] = path.split(' | ')
  const parts = names === '' ? [] : names.split('.')
  let found: unknown = value
  for (const [at, part] of parts.entries()) {
    if (part === '*') {
      const rest = parts.slice(at + 1).join('.')
      found = list(found).map((item) => valueAt(item, rest))
      break
    }
    found = Array.isArray(found) ? found.at(Number(part)) : isObject(found) ? found[part] : undefined
  }
  if (measure === undefined) return found
  return measure === 'count'
    ? list(found).length
    : [found].flat().reduce((sum: number, text) => sum + lengthOf(text), 0)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const isLike = (value: unknown, pattern: RegExp) => typeof value === 'string' && pattern.test(value)
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const lengthOf = (value: unknown) => (typeof value === 'string' || Array.isArray(value) ? value.length : Number.NaN)

function fault(holds: boolean, place: string, expected: string, value: unknown): string[] {
  return holds ? [] : [`${place}: expected ${expected}, got ${show(value)}`]
}

function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

import { createHash } from 'node:crypto'

export type Variables = Map<string, unknown>

/** Functions of templates: `${sha256 NAME}` and `${bytes NAME}` of a variable's text, and `${repeat TEXT COUNT}`. */
const computed: Readonly<Record<string, (variables: Variables, argument: string, count?: string) => string>> = {
  sha256: (variables, name) =>
    createHash('sha256')
      .update(String(variables.get(name)))
      .digest('hex'),
  bytes: (variables, name) => String(Buffer.byteLength(String(variables.get(name)))),
  repeat: (_, text, count) => text.repeat(Number(count)),
}

/** Replaces `${name}` in all strings within a value. A string that is only `${name}` becomes the variable's value of any type. */
export function fillTemplate<T>(value: T, variables: Variables): T
export function fillTemplate(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') {
    const [, whole] = /^\$\{(\w+)\}$/.exec(value) ?? []
    if (whole !== undefined) return readVariable(variables, whole)
    return value.replaceAll(/\$\{(?:(\w+) (\w+)(?: (\d+))?|(\w+))\}/g, (_, name, argument, count, variable) => {
      if (variable !== undefined) return String(readVariable(variables, variable))
      const compute = computed[name]
      if (compute === undefined) throw new Error(`There is no function ${name} in templates.`)
      return compute(variables, argument, count)
    })
  }
  if (Array.isArray(value)) return value.map((item) => fillTemplate(item, variables))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillTemplate(item, variables)]))
}

function readVariable(variables: Variables, name: string): unknown {
  if (!variables.has(name)) throw new Error(`There is no variable ${name}.`)
  return variables.get(name)
}

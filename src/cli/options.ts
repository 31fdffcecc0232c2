import { type Command, Option } from 'commander'
import { z } from 'zod'

type Help = {
  /** Placeholder of the value, such as `<slug>`. Undefined for a switch. For an argument, a suffix to its name. */
  value?: string | undefined
  text?: string | undefined
  isArgument?: boolean
  isRepeatable?: boolean
  /** Description of the same option with `no-` before its name. */
  negated?: string
  /** Options that cannot be given together with this one. */
  conflicts?: readonly string[]
}

const helps = z.registry<Help>()

/** Describes a field of a command's schema as an option with a value. */
export function option<Schema extends z.ZodType>(schema: Schema, value: string, text: string, more?: Help): Schema {
  return describe(schema, { value, text, ...more })
}

/** Describes a field of a command's schema as an option that may be repeated. */
export function repeatable<Schema extends z.ZodType>(schema: Schema, value: string, text: string): Schema {
  return describe(schema, { value, text: `${text} (repeatable)`, isRepeatable: true })
}

/** Makes the field of an option without a value. */
export function flag(text: string, ...conflicts: string[]) {
  return describe(z.literal(true).optional(), { text, conflicts })
}

/**
 * Describes a field of a command's schema as an argument.
 * @param dots `...` for an argument that takes the rest of the command line
 */
export function argument<Schema extends z.ZodType>(schema: Schema, text?: string, dots: '' | '...' = ''): Schema {
  return describe(schema, { value: dots, text, isArgument: true })
}

/** Clones the schema, since several commands may describe the same one differently. */
function describe<Schema extends z.ZodType>(schema: Schema, help: Help): Schema {
  const field = schema.clone()
  helps.add(field, help)
  return field
}

/** Adds the options and arguments that the fields of a schema describe, in their order. */
export function addOptions(command: Command, { shape }: z.ZodObject): Command {
  for (const [key, field] of Object.entries(shape)) {
    const { value, text = '', isArgument, isRepeatable, negated, conflicts = [] } = helps.get(field) ?? {}
    const isRequired = field._zod.optin === undefined
    const initial: unknown = field instanceof z.ZodDefault ? field.def.defaultValue : undefined
    if (isArgument) {
      command.argument(isRequired ? `<${key}${value}>` : `[${key}]`, text, initial)
      continue
    }
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const added = new Option(`--${name}${value === undefined ? '' : ` ${value}`}`, text).conflicts([...conflicts])
    if (isRepeatable) added.argParser((given, before: string[] = []) => [...before, given])
    command.addOption(added.default(initial).makeOptionMandatory(isRequired && negated === undefined))
    if (negated !== undefined) command.option(`--no-${name}`, negated)
  }
  return command
}

/** Option of commands that list what one tenant has, or all. On a server, the key determines the tenant. */
export const OfTenant = z.object({
  tenant: option(z.string().optional(), '<slug>', 'of one tenant only', { conflicts: ['server'] }),
})

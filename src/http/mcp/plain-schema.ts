import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { z } from 'zod'

type Node = z.core.JSONSchema.JSONSchema | boolean
type Definitions = Readonly<Record<string, Node>>

/** Keywords of JSON Schema that every model vendor accepts. */
const kept = ['type', 'description', 'required', 'enum', 'minimum', 'maximum', 'minItems', 'maxItems'] as const

/**
 * Returns a tool's schema for the SDK, in the subset of JSON Schema that every model vendor accepts: without `$ref`, unions, patterns and
 * formats. It accepts every value, since the tool parses its arguments itself, to report faults with the messages of the API.
 */
export function plainSchema(schema: z.ZodObject): StandardSchemaWithJSON<unknown, unknown> {
  const describe = (io: 'input' | 'output') => () => {
    const whole = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
    return plain(whole, whole.$defs ?? {})
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'ganglion',
      validate: (value) => ({ value }),
      jsonSchema: { input: describe('input'), output: describe('output') },
    },
  }
}

function plain(node: Node, definitions: Definitions): Record<string, unknown> {
  if (typeof node === 'boolean') return {}
  const { $ref, description, const: only, properties, items } = node
  const named = $ref === undefined ? undefined : definitions[$ref.slice('#/$defs/'.length)]
  if (named !== undefined) return { ...plain(named, definitions), ...(description !== undefined && { description }) }
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, plain(field, definitions)])
  const own = kept.flatMap((keyword) => (isTold(node[keyword]) ? [[keyword, node[keyword]]] : []))
  return {
    ...Object.fromEntries(own),
    ...(only !== undefined && { enum: [only] }),
    ...(properties !== undefined && { properties: Object.fromEntries(fields) }),
    ...(items !== undefined && !Array.isArray(items) && { items: plain(items, definitions) }),
  }
}

/** False for the bounds of a safe integer, which carry no information. */
function isTold(value: unknown): boolean {
  return value !== undefined && Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER
}

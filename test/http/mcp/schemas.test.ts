import { expect, test } from 'vitest'
import { z } from 'zod'
import { mcpClient } from '../support/mcp-client.ts'
import { listen, testServer } from '../support/test-server.ts'

/**
 * Subset that OpenAI (function calling), Anthropic (tool use) and Google (`FunctionDeclaration`) all accept: a name of 1 to 64 letters,
 * digits, `_` and `-`; an object whose fields each have one type; enumerations of text. None accepts every reference, union or keyword.
 */
const keywords = [
  'type',
  'description',
  'properties',
  'required',
  'items',
  'enum',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
]
const types = ['object', 'array', 'string', 'number', 'integer', 'boolean']

const Schema = z.looseObject({
  type: z.unknown().optional(),
  enum: z.array(z.unknown()).default([]),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  required: z.array(z.string()).default([]),
})

function faultsOf(schema: unknown, at: string): string[] {
  const { type, enum: values, properties, items, required } = Schema.parse(schema)
  return [
    ...Object.keys(Object(schema)).flatMap((key) => (keywords.includes(key) ? [] : [`${at}: ${key}`])),
    ...(types.includes(String(type)) ? [] : [`${at}: type ${JSON.stringify(type)}`]),
    ...(type === 'object' && properties === undefined ? [`${at}: an object without fields`] : []),
    ...(type === 'array' && items === undefined ? [`${at}: an array without items`] : []),
    ...(values.every((value) => typeof value === 'string') ? [] : [`${at}: an enumeration of more than text`]),
    ...required.flatMap((name) => (properties?.[name] === undefined ? [`${at}: requires ${name}`] : [])),
    ...Object.entries(properties ?? {}).flatMap(([name, field]) => [
      ...(/^[a-zA-Z0-9_.-]{1,64}$/.test(name) ? [] : [`${at}: the name ${name}`]),
      ...faultsOf(field, `${at}.${name}`),
    ]),
    ...(items === undefined ? [] : faultsOf(items, `${at}[]`)),
  ]
}

test.each(['curator', 'app', 'reader'] as const)(
  'every vendor of models takes the tools of a key of the role %s',
  async (role) => {
    const { app } = await testServer()
    const client = await mcpClient(`http://127.0.0.1:${await listen(app)}`, role)
    const { tools } = await client.listTools()
    expect(tools.length).toBeGreaterThan(5)
    for (const { name, description = '', inputSchema } of tools) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      expect([name, description.length > 0 && description.length <= 1024]).toEqual([name, true])
      expect(faultsOf(inputSchema, name)).toEqual([])
    }
  },
)

test('what a tool returns is described without references and unions', async () => {
  const { app } = await testServer()
  const client = await mcpClient(`http://127.0.0.1:${await listen(app)}`, 'app')
  const { tools } = await client.listTools()
  for (const { name, outputSchema } of tools) {
    expect([name, outputSchema?.type]).toEqual([name, 'object'])
    expect(JSON.stringify(outputSchema)).not.toMatch(
      /"(?:\$ref|\$defs|anyOf|oneOf|allOf|propertyNames|pattern|format)"/,
    )
  }
})

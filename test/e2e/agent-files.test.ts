import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import matter from 'gray-matter'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { ganglion, main } from '../cli/support.ts'
import { mcpClient } from '../http/support/mcp-client.ts'
import { startProduct } from './support.ts'

const manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  mcpName: z.string(),
  files: z.array(z.string()),
})
const ofPackage = manifest.parse(JSON.parse(readFileSync('package.json', 'utf8')))

/** Rules of the registry's schema of 2025-12-11 for the parts that `server.json` uses, and those that the registry checks besides. */
const text = (max: number) => z.string().min(1).max(max)
const input = {
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
  ...{ default: z.string().optional(), placeholder: z.string().optional(), value: z.string().optional() },
}
const exactVersion = text(255).regex(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/)
const ServerJson = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: text(100),
  description: text(100),
  version: exactVersion,
  packages: z.array(
    z.strictObject({
      registryType: z.literal('npm'),
      identifier: z.string(),
      version: exactVersion,
      runtimeHint: z.enum(['npx']),
      transport: z.strictObject({ type: z.literal('stdio') }),
      packageArguments: z.array(
        z.discriminatedUnion('type', [
          z.strictObject({ ...input, type: z.literal('positional'), value: z.string() }),
          z.strictObject({ ...input, type: z.literal('named'), name: z.string() }),
        ]),
      ),
      environmentVariables: z.array(z.strictObject({ ...input, name: z.string() })),
    }),
  ),
  remotes: z.array(
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.string().regex(/^https?:\/\/[^\s]+$/),
      variables: z.record(z.string(), z.strictObject(input)),
    }),
  ),
})
const server = ServerJson.parse(JSON.parse(readFileSync('server.json', 'utf8')))
const [published] = server.packages

test('server.json describes the package that is published', () => {
  expect(server).toMatchObject({ name: ofPackage.mcpName, version: ofPackage.version })
  expect(published).toMatchObject({ identifier: ofPackage.name, version: ofPackage.version })
  for (const { url, variables } of server.remotes) {
    expect(Array.from(url.matchAll(/\{(\w+)\}/g), ([, name]) => name)).toEqual(Object.keys(variables))
  }
})

test.each(['=', ' '])('a client starts what server.json says, with %j before a value', async (separator) => {
  const { url, tokens } = await startProduct()
  const values = new Map([
    ['--url', url],
    ['GANGLION_KEY', tokens.app],
  ])
  const args = published?.packageArguments.flatMap((argument) =>
    argument.type === 'positional'
      ? [argument.value]
      : `${argument.name}${separator}${values.get(argument.name)}`.split(' '),
  )
  const env = published?.environmentVariables.map(({ name }) => [name, String(values.get(name))])
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args: [main, ...(args ?? [])] },
    env: Object.fromEntries(env ?? []),
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('propose')
})

const skillPath = 'skills/ganglion/SKILL.md'
const skill = readFileSync(skillPath, 'utf8')

test('the skill has the form of the Agent Skills format, is published and printed', async () => {
  const { data, content } = matter(skill)
  const Head = z.strictObject({
    name: text(64).regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
    description: text(1024),
    license: z.literal('Apache-2.0'),
    compatibility: text(500),
  })
  expect(Head.parse(data).name).toBe(basename(dirname(skillPath)))
  expect([content.split('\n').length < 100, content.length < 8000]).toEqual([true, true])
  expect(ofPackage.files).toContain('skills')
  expect(await ganglion(['mcp', '--skill'])).toEqual({ code: 0, stdout: skill, stderr: '' })
})

/** Names of the fields of a schema and the values that they may have. */
function namesIn(schema: unknown): string[] {
  const { properties = {}, items, enum: values = [] } = Object(schema)
  const fields = Object.entries(properties).flatMap(([name, field]) => [name, ...namesIn(field)])
  return [...fields, ...(items === undefined ? [] : namesIn(items)), ...values.map(String)]
}

test('every tool, field and value that the skill names exists', async () => {
  const { url, tokens } = await startProduct()
  const { tools } = await (await mcpClient(url, tokens.app)).listTools()
  const names = new Set([
    ...tools.flatMap(({ name, inputSchema, outputSchema }) => [
      name,
      ...namesIn(inputSchema),
      ...namesIn(outputSchema),
    ]),
    // Codes of warnings and errors, and what a page has.
    ...['unchanged', 'similar', 'rate_limited', 'queue_full', '[[seqId]]', 'preview: true'],
  ])
  const named = new Set(Array.from(matter(skill).content.matchAll(/`([^`]+)`/g), ([, name = '']) => name))
  expect([...named].filter((name) => !names.has(name))).toEqual([])
  const taught = tools.map(({ name }) => name).filter((name) => !named.has(name))
  expect(taught).toEqual(['links', 'ask', 'feedback'])
})

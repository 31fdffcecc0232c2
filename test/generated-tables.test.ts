import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { commands } from '../src/cli/program.ts'
import { EnvironmentVariables } from '../src/cli/settings/environment.ts'

// `npm run docs` writes what these tests expect.

test('docs/configuration.md lists every command', async () => {
  const program = new Command()
  for (const { load } of commands) (await load())(program)
  const rows = leaves(program).map((command) => `| \`${usageOf(command)}\` | ${command.description()} |`)
  await expectTable('docs/configuration.md', 'commands', ['| command | |', '|---|---|', ...rows])
})

test('docs/configuration.md has each variable of the server, with its default', () => {
  const rows = Array.from(
    readFileSync('docs/configuration.md', 'utf8').matchAll(/^\| (`GANGLION_.*?) \| (.*?) \|/gm),
    ([, names = '', defaults = '']) => ({ names: names.match(/GANGLION_[A-Z_]+/g) ?? [], defaults }),
  )
  const listed = new Map(
    rows.flatMap(({ names, defaults }) =>
      names.map((name, at) => [name, { value: defaults.split(', ')[at] ?? defaults }]),
    ),
  )
  const wrong = Object.entries(EnvironmentVariables.shape).filter(([name, schema]) => {
    const text = listed.get(name)?.value
    const initial = schema instanceof z.ZodDefault ? String(schema.def.defaultValue) : ''
    return text === undefined || (initial !== '' && text !== `\`${initial}\``)
  })
  expect(wrong.map(([name]) => name)).toEqual([])
})

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)
}

function usageOf(command: Command): string {
  const args = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`
    return argument.required ? ` <${name}>` : ` [${name}]`
  })
  const path: string[] = []
  for (let at: Command | null = command; at?.parent; at = at.parent) path.unshift(at.name())
  return `${path.join(' ')}${args.join('')}`
}

/** Expects the lines between the comments `<!-- NAME -->` and `<!-- end -->` of a document, which an update writes. */
async function expectTable(document: string, name: string, lines: readonly string[]): Promise<void> {
  const text = readFileSync(document, 'utf8')
  const start = text.indexOf(`<!-- ${name}: `)
  const from = text.indexOf('-->\n', start) + 4
  const to = text.indexOf('<!-- end -->', from)
  expect(Math.min(start, to)).toBeGreaterThan(0)
  const expected = `${text.slice(0, from)}\n${lines.join('\n')}\n\n${text.slice(to)}`
  await expect(expected).toMatchFileSnapshot(`../${document}`)
}

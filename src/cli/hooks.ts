import { realpathSync } from 'node:fs'
import type { Command } from 'commander'
import { z } from 'zod'
import { hooksFolder } from '../git/hooks-folder.ts'
import { hookNames, installHooks, uninstallHooks } from './installed-hooks.ts'

const Options = z.object({ force: z.boolean().default(false), json: z.boolean().default(false) })

/** `hooks install` and `hooks uninstall`. They need no data directory: a clone is enough. */
export function addHooksCommands(program: Command): void {
  const hooks = program.command('hooks').description('git hooks that check your commits in a clone of a knowledge base')
  inClone(hooks.command('install'))
    .description(`put the hooks ${hookNames.join(' and ')} into a clone`)
    .option('--force', 'move hooks of others aside')
    .action(async (dir: unknown, options: unknown) => {
      const { force, json } = Options.parse(options)
      const folder = await hooksFolder(z.string().parse(dir))
      const installation = { node: process.execPath, program: realpathSync(process.argv[1] ?? '') }
      const movedAside = await installHooks(folder, { installation, force })
      const moved = movedAside.map((path) => `\nMoved aside: ${path}`).join('')
      print(json, { folder, movedAside }, `Installed ${hookNames.join(' and ')} in ${folder}.${moved}`)
    })
  inClone(hooks.command('uninstall'))
    .description('take the hooks out of a clone, and put back what was moved aside')
    .action(async (dir: unknown, options: unknown) => {
      const { json } = Options.parse(options)
      const folder = await hooksFolder(z.string().parse(dir))
      const removed = await uninstallHooks(folder)
      const text = removed.map((path) => `Removed ${path}.`).join('\n')
      print(json, { folder, removed }, text || `There are no hooks of Ganglion in ${folder}.`)
    })
}

function inClone(command: Command): Command {
  return command.argument('[dir]', 'a clone of the knowledge base', '.').option('--json', 'print one line of JSON')
}

function print(isJson: boolean, json: unknown, text: string): void {
  process.stdout.write(`${isJson ? JSON.stringify(json) : text}\n`)
}

import { realpathSync } from 'node:fs'
import type { Command } from 'commander'
import { z } from 'zod'
import { hooksFolder, setSubmitDefault, unsetSubmitDefault } from '../../git/checkout/user-git.ts'
import { hookNames, installHooks, uninstallHooks } from './installed-hooks.ts'

const Options = z.object({
  force: z.boolean().default(false),
  submit: z.boolean().default(false),
  json: z.boolean().default(false),
})
const submitHint = 'To let git push submit, so that it never has to fetch first: ganglion hooks install --submit'

/** `hooks install` and `hooks uninstall`. They need no data directory: a clone is enough. */
export function addHooksCommands(program: Command): void {
  const hooks = program.command('hooks').description('git hooks that check your commits in a clone of a knowledge base')
  inClone(hooks.command('install'))
    .description(`put the hooks ${hookNames.join(' and ')} into a clone`)
    .option('--force', 'move hooks of others aside')
    .option('--submit', 'also let git push submit: -o submit to HEAD:refs/for/main of the remote origin')
    .action(async (dir: unknown, options: unknown) => {
      const { force, submit, json } = Options.parse(options)
      const clone = z.string().parse(dir)
      const folder = await hooksFolder(clone)
      const installation = { node: process.execPath, program: realpathSync(process.argv[1] ?? '') }
      const movedAside = await installHooks(folder, { installation, force })
      const set = submit ? await setSubmitDefault(clone) : []
      const lines = [
        `Installed ${hookNames.join(' and ')} in ${folder}.`,
        ...movedAside.map((path) => `Moved aside: ${path}`),
        ...set.map((setting) => `Set ${setting}`),
        submit ? 'git push now submits. To undo: ganglion hooks uninstall' : submitHint,
      ]
      print(json, { folder, movedAside, set }, lines.join('\n'))
    })
  inClone(hooks.command('uninstall'))
    .description('take the hooks and the setting of --submit out of a clone, and put back what was moved aside')
    .action(async (dir: unknown, options: unknown) => {
      const { json } = Options.parse(options)
      const clone = z.string().parse(dir)
      const folder = await hooksFolder(clone)
      const removed = await uninstallHooks(folder)
      const unset = await unsetSubmitDefault(clone)
      const lines = [...removed.map((path) => `Removed ${path}.`), ...unset.map((setting) => `Unset ${setting}`)]
      print(json, { folder, removed, unset }, lines.join('\n') || `There are no hooks of Ganglion in ${folder}.`)
    })
}

function inClone(command: Command): Command {
  return command.argument('[dir]', 'a clone of the knowledge base', '.').option('--json', 'print one line of JSON')
}

function print(isJson: boolean, json: unknown, text: string): void {
  process.stdout.write(`${isJson ? JSON.stringify(json) : text}\n`)
}

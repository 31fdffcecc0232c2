import { relative, sep } from 'node:path'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { checkDirectory } from '../../push/clone-check/check-directory.ts'
import { findKbFolder } from '../../push/clone-check/read-checkout.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { NegativeAnswer, UsageError } from '../cli-errors.ts'
import { formatCodeClimate, formatGithub, formatText } from '../format-findings.ts'

const formats = ['text', 'json', 'github', 'codeclimate'] as const

const Options = z.object({
  format: z.enum(formats),
  json: z.boolean().optional(),
  base: z.string().optional(),
})

export function addCheckCommand(program: Command): void {
  defineCheck(program.command('check'))
}

export function defineCheck(command: Command): void {
  command
    .description('check the files of a knowledge base; the exit code is 1 if there are errors')
    .argument('[dir]', 'a checkout of the knowledge base, or a folder in it', '.')
    .option('--base <revision>', 'seqIds must be those of this commit (default: HEAD)')
    .addOption(new Option('--format <format>', 'how findings are printed').choices(formats).default('text'))
    .option('--json', 'print one line of JSON, as --format json does')
    .addHelpText('after', () => {
      const name = command.parent === null ? command.name() : `${command.parent.name()} ${command.name()}`
      return `\nExample:\n  ${name} handbook --base origin/main --format github`
    })
    .action(async (dir: unknown, options: unknown) => {
      const { format, json, base } = Options.parse(options)
      if (base === '' || base?.startsWith('-')) throw new UsageError(`--base: ${base} is not a revision`)
      const directory = await findKbFolder(z.string().parse(dir))
      const { findings, files } = await checkDirectory(directory, { base })
      process.stdout.write(`${print(json ? 'json' : format, findings, files, directory)}\n`)
      if (findings.some(({ severity }) => severity === 'error')) throw new NegativeAnswer()
    })
}

function print(format: (typeof formats)[number], findings: Finding[], files: number, directory: string): string {
  if (format === 'json') return formatJson(findings)
  const located = findings.map((finding) => ({ ...finding, path: pathHere(directory, finding.path) }))
  if (format === 'github') return formatGithub(located)
  return format === 'codeclimate' ? formatCodeClimate(located) : formatText(located, files)
}

function formatJson(findings: Finding[]): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return JSON.stringify({ errors, warnings: findings.length - errors, findings })
}

/** Returns a path relative to the current folder, from which editors and forges resolve paths. It may be above the checkout. */
function pathHere(directory: string, path: string): string {
  const from = relative('.', directory).split(sep).join('/')
  return from === '' || from.startsWith('..') ? path : `${from}/${path}`
}

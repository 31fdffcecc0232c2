import { relative, sep } from 'node:path'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import type { Finding } from '../knowledge/neuron.ts'
import { checkDirectory } from '../services/check/check-directory.ts'
import { NegativeAnswer, UsageError } from './command.ts'
import { formatGithub } from './findings/github.ts'
import { formatSarif } from './findings/sarif.ts'
import { formatText } from './findings/text.ts'

const formats = ['text', 'json', 'github', 'sarif'] as const

const Options = z.object({
  format: z.enum(formats),
  json: z.boolean().optional(),
  base: z.string().optional(),
})

/** `check`. Needs no data directory and no settings: it runs wherever the files are. */
export function addCheckCommand(program: Command): void {
  program
    .command('check')
    .description('check the files of a knowledge base; the exit code is 1 where there are errors')
    .argument('[dir]', 'a checkout of the knowledge base', '.')
    .option('--base <revision>', 'seqIds must be those of this commit (default: HEAD)')
    .addOption(new Option('--format <format>', 'how findings are printed').choices(formats).default('text'))
    .option('--json', 'print one line of JSON, as --format json does')
    .addHelpText('after', '\nExample:\n  ganglion check handbook --base origin/main --format github')
    .action(async (dir: unknown, options: unknown) => {
      const { format, json, base } = Options.parse(options)
      if (base === '' || base?.startsWith('-')) throw new UsageError(`--base: ${base} is not a revision`)
      const directory = z.string().parse(dir)
      const { findings, files } = await checkDirectory(directory, { base })
      process.stdout.write(`${print(json ? 'json' : format, findings, files, directory)}\n`)
      if (findings.some(({ severity }) => severity === 'error')) throw new NegativeAnswer()
    })
}

function print(format: (typeof formats)[number], findings: Finding[], files: number, directory: string): string {
  if (format === 'json') return formatJson(findings)
  const located = findings.map((finding) => ({ ...finding, path: pathHere(directory, finding.path) }))
  if (format === 'github') return formatGithub(located)
  return format === 'sarif' ? formatSarif(located) : formatText(located, files)
}

function formatJson(findings: Finding[]): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return JSON.stringify({ errors, warnings: findings.length - errors, findings })
}

/** Editors and forges look for a file from where the command runs, which may be above the checkout. */
function pathHere(directory: string, path: string): string {
  const from = relative('.', directory).split(sep).join('/')
  return from === '' || from.startsWith('..') ? path : `${from}/${path}`
}

import { writeFile } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { findKbFolder } from '../../push/clone-check/kb-folder.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { NegativeAnswer, UsageError } from '../cli-errors.ts'
import { formatCodeClimate } from '../findings/codeclimate.ts'
import { formatGithub } from '../findings/github-findings.ts'
import { formatSarif } from '../findings/sarif.ts'
import { formatText } from '../findings/text-findings.ts'

const formats = ['text', 'json', 'github', 'codeclimate', 'sarif'] as const

/** In the place of a file's name. */
const standardOutput = '-'

const Options = z.object({
  format: z.enum(formats),
  json: z.boolean().optional(),
  base: z.string().optional(),
  staged: z.boolean().default(false),
  summary: z.string().min(1).optional(),
})

/** `check`. Needs no data directory and no settings: it runs wherever the files are. */
export function addCheckCommand(program: Command): void {
  defineCheck(program.command('check'))
}

export function defineCheck(command: Command): void {
  command
    .description('check the files of a knowledge base; the exit code is 1 where there are errors')
    .argument('[dir]', 'a checkout of the knowledge base, or a folder in it', '.')
    .option('--base <revision>', 'seqIds must be those of this commit (default: HEAD)')
    .option('--staged', 'check only what is staged for the next commit, without links')
    .option(
      '--summary <file>',
      'write a summary of what changes since the base, as Markdown for reviewers; - prints it in place of the findings',
    )
    .addOption(new Option('--format <format>', 'how findings are printed').choices(formats).default('text'))
    .option('--json', 'print one line of JSON, as --format json does')
    .addHelpText('after', () => {
      const name = command.parent === null ? command.name() : `${command.parent.name()} ${command.name()}`
      return `\nExample:\n  ${name} handbook --base origin/main --format github`
    })
    .action(async (dir: unknown, options: unknown) => {
      const { format, json, ...asked } = parseOptions(options)
      const directory = await findKbFolder(z.string().parse(dir))
      const { findings, files } = await check(directory, asked)
      const chosen = json ? 'json' : format
      // A hook that finds nothing says nothing.
      const isSilent = asked.staged && chosen === 'text' && findings.length === 0
      const output = asked.summary === standardOutput ? process.stderr : process.stdout
      if (!isSilent) output.write(`${print(chosen, findings, files, directory)}\n`)
      if (findings.some(({ severity }) => severity === 'error')) throw new NegativeAnswer()
    })
}

type Options = z.infer<typeof Options>

function parseOptions(given: unknown): Options {
  const result = Options.safeParse(given)
  if (!result.success) throw new UsageError('--summary: give it the name of a file')
  const { base, staged, summary } = result.data
  if (base === '' || base?.startsWith('-')) throw new UsageError(`--base: ${base} is not a revision`)
  if (staged && (base ?? summary) !== undefined) throw new UsageError('--staged goes with neither --base nor --summary')
  return result.data
}

/** Loads what the kind of check needs, and no more: a hook waits for it at each commit. */
async function check(
  directory: string,
  { base, staged, summary }: Pick<Options, 'base' | 'staged' | 'summary'>,
): Promise<{ findings: Finding[]; files: number }> {
  if (staged) {
    const { checkStaged } = await import('../../push/clone-check/check-staged.ts')
    return checkStaged(directory, { indexFile: process.env.GIT_INDEX_FILE })
  }
  if (summary === undefined) {
    const { checkDirectory } = await import('../../push/clone-check/check-directory.ts')
    return checkDirectory(directory, { base })
  }
  const { reviewDirectory } = await import('../../push/clone-check/review-directory.ts')
  const { formatSummary } = await import('../findings/summary.ts')
  const { findings, files, review } = await reviewDirectory(directory, { base })
  const text = formatSummary(review, findings)
  if (summary === standardOutput) process.stdout.write(text)
  else await writeFile(summary, text)
  return { findings, files }
}

function print(format: (typeof formats)[number], findings: Finding[], files: number, directory: string): string {
  if (format === 'json') return formatJson(findings)
  const located = findings.map((finding) => ({ ...finding, path: pathHere(directory, finding.path) }))
  if (format === 'github') return formatGithub(located)
  if (format === 'codeclimate') return formatCodeClimate(located)
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

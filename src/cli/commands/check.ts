import { createHash } from 'node:crypto'
import { relative, sep } from 'node:path'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { checkDirectory } from '../../push/clone-check/check-directory.ts'
import { findKbFolder } from '../../push/clone-check/read-checkout.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { counted } from '../../rules/text/numbers.ts'
import { NegativeAnswer, UsageError } from '../cli-errors.ts'

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

export function formatText(findings: readonly Finding[], files: number): string {
  const lines = findings.map(
    ({ path, line, severity, rule, message }) => `${oneLine(path, 2000)}:${line}: ${severity}[${rule}]: ${message}`,
  )
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return [
    ...lines,
    `${counted(errors, 'error')} and ${counted(findings.length - errors, 'warning')} in ${counted(files, 'file')}.`,
  ].join('\n')
}

/** Formats findings in the part of Code Climate's format that GitLab reads to show them next to the lines of a merge request. */
export function formatCodeClimate(findings: readonly Finding[]): string {
  const seen = new Map<string, number>()
  const issues = findings.map(({ path, line, severity, rule, message }) => {
    // The line is not part of the identity, so that a finding that only moved stays the same. GitLab drops the second of two equal ones.
    const identity = JSON.stringify([rule, path, message])
    const ordinal = seen.get(identity) ?? 0
    seen.set(identity, ordinal + 1)
    return {
      description: message,
      check_name: rule,
      fingerprint: createHash('sha256').update(`${ordinal} ${identity}`).digest('hex'),
      severity: severity === 'error' ? 'major' : 'minor',
      location: { path: path.toWellFormed(), lines: { begin: line } },
    }
  })
  return JSON.stringify(issues)
}

/** Formats findings as workflow commands, which GitHub Actions shows next to the lines. */
export function formatGithub(findings: readonly Finding[]): string {
  return findings
    .map(({ path, line, severity, rule, message }) => {
      const place = `file=${property(oneLine(path, 2000))},line=${line},title=${property(rule)}`
      return `::${severity} ${place}::${data(message)}`
    })
    .join('\n')
}

/** Escapes like `escapeData` and `escapeProperty` of GitHub's toolkit. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

import type { Command } from 'commander'
import { z } from 'zod'
import { NegativeAnswer, UsageError } from './cli-errors.ts'
import { type Environment, readEnvironment } from './settings/environment.ts'
import { addSettingsOfFiles } from './settings/setting-files.ts'

/** What a command has to say, to a program and to a person; where it is negative, the exit code is 1. */
export type CommandAnswer = { json: unknown; text: string; isNegative?: boolean }

const CommonOptions = z.object({
  data: z.string().min(1).optional(),
  config: z.string().min(1).optional(),
  json: z.boolean().optional(),
})

/**
 * Lets a command act, and gives it the options that all have: `--data`, `--config` and `--json`. The schema gets the command's options
 * and arguments by name; the answer is printed when `run` is done.
 */
export function act<Schema extends z.ZodType>(
  command: Command,
  schema: Schema,
  run: (input: z.output<Schema>, environment: Environment) => Promise<CommandAnswer>,
): Command {
  return command
    .option('--data <dir>', 'the data directory (default: GANGLION_DATA, or ./data)')
    .option('--config <file>', 'settings, a line each: NAME=value (default: GANGLION_CONFIG)')
    .option('--json', 'print one line of JSON')
    .action(async () => {
      const args = command.registeredArguments.map((argument, index) => [argument.name(), command.processedArgs[index]])
      const { data, config, json } = parse(CommonOptions, command, command.opts())
      const input = parse(schema, command, { ...command.opts(), ...Object.fromEntries(args) })
      addSettingsOfFiles(process.env, config)
      const environment = readEnvironment(data === undefined ? process.env : { ...process.env, GANGLION_DATA: data })
      const answer = await run(input, environment)
      process.stdout.write(`${json ? JSON.stringify(answer.json) : answer.text}\n`)
      if (answer.isNegative) throw new NegativeAnswer()
    })
}

function parse<Schema extends z.ZodType>(schema: Schema, command: Command, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw new UsageError(result.error.issues.map((issue) => problemOf(issue, command)).join('\n'))
}

/** What is wrong, with the option or argument as people write it. */
function problemOf(issue: z.core.$ZodIssue, command: Command): string {
  const message = issue.code === 'invalid_value' ? `must be one of ${issue.values.join(', ')}` : issue.message
  const [name] = issue.path
  if (name === undefined) return message
  const option = command.options.find((known) => known.attributeName() === name)
  return `${option?.long ?? `<${String(name)}>`}: ${message}`
}

import type { Command } from 'commander'
import { z } from 'zod'
import { Ganglion } from '#client'
import { GanglionError } from '../contract/errors.ts'
import { faultOf } from '../contract/faults.ts'
import type { Context } from '../kb/context.ts'
import { readableText } from '../rules/text/lines.ts'
import { NegativeAnswer, UsageError } from './cli-errors.ts'
import { type ApiServer, serverOf } from './client/api-server.ts'
import { readAnswer } from './client/server-problem.ts'
import { addOptions } from './options.ts'
import { type Environment, readEnvironment } from './settings/environment.ts'
import { addSettingsOfFiles } from './settings/setting-files.ts'
import { withContext } from './with-ganglion.ts'

/** Result of a command, for programs and for people. `isNegative`: the exit code is 1. */
export type CommandAnswer = { json: unknown; text: string; isNegative?: boolean }

const DataOptions = z.object({ data: z.string().min(1).optional(), config: z.string().min(1).optional() })

/**
 * Adds to a command the options and arguments of its schema and those of all commands: `--data`, `--config` and `--json`. The command
 * prints the answer of `run`.
 */
export function act<Schema extends z.ZodObject>(
  command: Command,
  schema: Schema,
  run: (input: z.output<Schema>, environment: Environment) => Promise<CommandAnswer>,
): Command {
  addOptions(command, schema)
    .option('--data <dir>', 'the data directory (default: GANGLION_DATA, or ./data)')
    .option('--config <file>', 'settings, a line each: NAME=value (default: GANGLION_CONFIG)')
  return answer(command, schema, (input) => {
    const { data, config } = parseOptions(DataOptions, command, command.opts())
    addSettingsOfFiles(process.env, config)
    return run(input, readEnvironment(data === undefined ? process.env : { ...process.env, GANGLION_DATA: data }))
  })
}

/**
 * Makes a command call a running server over HTTP, without a data directory: as {@link act}, with `--url` and `--json`.
 * @param key description of the key that GANGLION_KEY must contain, for people
 */
export function askServer<Schema extends z.ZodObject>(
  command: Command,
  schema: Schema,
  { key, example }: { key: string; example: string },
  run: (input: z.output<Schema>, server: ApiServer) => Promise<CommandAnswer>,
): Command {
  addOptions(command, schema)
    .option('--url <url>', 'URL of the server (default: GANGLION_URL)')
    .addHelpText(
      'after',
      `\nGANGLION_KEY holds ${key}; the command line takes none, since others can see it.\n\nExample:\n  ${example}`,
    )
  return answer(command, schema, (input) => run(input, serverOf(command.opts().url, key)))
}

/**
 * Makes a command work on the data directory or, with `--server`, on a running server over HTTP, without a data directory.
 * @param key description of the key that GANGLION_KEY must contain, for people
 */
export function actOrAsk<Schema extends z.ZodObject, Answer extends z.ZodType>(
  command: Command,
  schema: Schema,
  { key, answers, here, there, tell, sentences = () => ({}) }: OnEither<z.output<Schema>, Answer>,
): Command {
  command.option('--server <url>', `ask this server over HTTP instead; GANGLION_KEY holds ${key}`)
  return act(command, schema, async (input, environment) => {
    const { server } = command.opts()
    if (server !== undefined) {
      const api = serverOf(server, key, '--server')
      return tell(await readAnswer(there(input, new Ganglion(api)), answers, api, sentences(input)), input)
    }
    const done = await withContext(environment, (ctx) => here(input, ctx, environment)).catch((error) => {
      const sentence = error instanceof GanglionError && sentences(input)[error.code]
      throw sentence ? new Error(sentence(error)) : error
    })
    return tell(done, input)
  })
}

type OnEither<Input, Answer extends z.ZodType> = {
  key: string
  /** Schema of the answer. */
  answers: Answer
  here: (input: Input, ctx: Context, environment: Environment) => Promise<z.output<Answer>>
  there: (input: Input, api: Ganglion) => Promise<unknown>
  tell: (answer: z.output<Answer>, input: Input) => CommandAnswer
  /** Messages for codes of errors. */
  sentences?: (input: Input) => Partial<Record<string, (error: unknown) => string>>
}

function answer<Schema extends z.ZodType>(
  command: Command,
  schema: Schema,
  run: (input: z.output<Schema>) => Promise<CommandAnswer>,
): Command {
  return command.option('--json', 'print one line of JSON').action(async () => {
    const args = command.registeredArguments.map((argument, index) => [argument.name(), command.processedArgs[index]])
    const { json, text, isNegative } = await run(
      parseOptions(schema, command, { ...command.opts(), ...Object.fromEntries(args) }),
    )
    process.stdout.write(`${command.opts().json ? JSON.stringify(json) : readableText(text)}\n`)
    if (isNegative) throw new NegativeAnswer()
  })
}

/** Parses options and arguments. @throws {UsageError} that names the option or argument as it is typed */
export function parseOptions<Schema extends z.ZodType>(
  schema: Schema,
  command: Command,
  input: unknown,
): z.output<Schema> {
  const result = schema.safeParse(input, { error: faultOf })
  if (result.success) return result.data
  throw new UsageError(result.error.issues.map((issue) => problemOf(issue, command)).join('\n'))
}

function problemOf(issue: z.core.$ZodIssue, command: Command): string {
  const message = issue.code === 'invalid_value' ? `must be one of ${issue.values.join(', ')}` : issue.message
  const [name] = issue.path
  if (name === undefined) return message
  const option = command.options.find((known) => known.attributeName() === name)
  return `${option?.long ?? `<${String(name)}>`}: ${message}`
}

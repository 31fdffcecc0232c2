import { Command, CommanderError } from 'commander'
import { ValidationError } from '../contract/errors.ts'
import { addCheckCommand } from './check.ts'
import { NegativeAnswer, UsageError } from './command.ts'
import { addHooksCommands } from './hooks.ts'
import { addImportCommand } from './import.ts'
import { addKnowledgeBaseCommands } from './kb.ts'
import { addKeyCommands } from './key.ts'
import { addLintCommand } from './lint.ts'
import { addOperationCommands } from './operations.ts'
import { packageVersion } from './package-version.ts'
import { addReviewCommand } from './review.ts'
import { addServeCommand } from './serve.ts'
import { addUploadCommand } from './upload.ts'
import { addUserCommands } from './user.ts'
import { addWatchCommand } from './watch.ts'
import { addWebhookCommands } from './webhook.ts'

const commands = [
  addServeCommand,
  addKnowledgeBaseCommands,
  addKeyCommands,
  addUserCommands,
  addImportCommand,
  addUploadCommand,
  addWatchCommand,
  addCheckCommand,
  addHooksCommands,
  addLintCommand,
  addReviewCommand,
  addWebhookCommands,
  addOperationCommands,
]

const FAILURE = 1
const USAGE = 2

const examples = `
Examples:
  ganglion serve                                        start the server; the first start makes a knowledge base and keys
  ganglion kb create handbook --tenant acme             make a knowledge base
  ganglion key create --tenant acme --role app          make an API key
  ganglion user create ada@example.com --tenant acme    make a user; prints the link by which they choose a password
  ganglion key list --json                              list API keys, as JSON`

/** Runs a command line (without `node` and the script) and answers its exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  const json = argv.includes('--json')
  const program = new Command('ganglion')
    .description('A server that keeps knowledge bases in git.')
    .version(packageVersion())
    .addHelpText('after', examples)
    .exitOverride()
    .configureOutput(json ? { writeErr: () => {} } : {})
  for (const add of commands) add(program)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0
      if (json) printError(error.message.replace(/^error: /, ''), { json })
      return USAGE
    }
    if (error instanceof NegativeAnswer) return FAILURE
    printError(describe(error), { json })
    return error instanceof UsageError ? USAGE : FAILURE
  }
}

function printError(message: string, { json }: { json: boolean }): void {
  if (json) process.stdout.write(`${JSON.stringify({ error: message })}\n`)
  else process.stderr.write(`error: ${message}\n`)
}

function describe(error: unknown): string {
  if (error instanceof ValidationError) {
    const fields = Object.entries(error.fieldErrors).map(([field, messages]) => `${field}: ${messages.join(', ')}`)
    return [...error.formErrors, ...fields].join('\n')
  }
  return error instanceof Error ? error.message : String(error)
}

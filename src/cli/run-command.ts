import { Command, CommanderError } from 'commander'
import { ValidationError } from '../contract/errors.ts'
import { faultText } from '../contract/faults.ts'
import { NegativeAnswer, UsageError } from './cli-errors.ts'

const FAILURE = 1
const USAGE = 2

/** Runs a command line (without `node` and the script) and returns the exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function runCommand(
  argv: readonly string[],
  define: (program: Command) => void | Promise<void>,
): Promise<number> {
  const json = argv.includes('--json')
  const program = new Command().exitOverride().configureOutput(json ? { writeErr: () => {} } : {})
  await define(program)
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
  if (error instanceof ValidationError) return faultText(error)
  return error instanceof Error ? error.message : String(error)
}

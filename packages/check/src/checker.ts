import { defineCheck } from '../../../src/cli/commands/check.ts'
import { runCommand } from '../../../src/cli/run-command.ts'
import { packageVersion } from '../../../src/operate/package-version.ts'

/** Runs the program of the package `@ganglion/check`: `ganglion check` without the server. */
function runChecker(argv: readonly string[]): Promise<number> {
  return runCommand(argv, (program) => defineCheck(program.name('ganglion-check').version(packageVersion)))
}

// The bundle of the package replaces `program.ts`, which `main.js` imports, by this file.
export { runChecker as runProgram }

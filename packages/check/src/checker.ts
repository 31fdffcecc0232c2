import { defineCheck } from '../../../src/cli/commands/check.ts'
import { runCommand } from '../../../src/cli/run-command.ts'
import { packageVersion } from '../../../src/operate/package-version.ts'

/** The program of the package `@ganglion/check`: `ganglion check` without the server. */
function runChecker(argv: readonly string[]): Promise<number> {
  return runCommand(argv, (program) => defineCheck(program.name('ganglion-check').version(packageVersion)))
}

// In the package this file stands in the place of `program.ts`, for `main.js`.
export { runChecker as runProgram }

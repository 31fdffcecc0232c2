import { stat } from 'node:fs/promises'

/** Error in the command line. The exit code is 2. */
export class UsageError extends Error {}

/** Thrown to end a command that has already printed a negative result. The exit code is 1. */
export class NegativeAnswer extends Error {
  constructor() {
    super('The answer is no.')
  }
}

/** Returns the problem of a path that should be a folder. @param advice sentence for a person who named a file */
export async function folderProblem(path: string, advice: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return undefined
  return found === undefined ? `There is no folder ${path}.` : `${path} is a file: ${advice}`
}

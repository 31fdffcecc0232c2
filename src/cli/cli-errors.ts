/** Error in the command line. The exit code is 2. */
export class UsageError extends Error {}

/** Ends a command that has already printed a negative result. The exit code is 1. */
export class NegativeAnswer extends Error {
  constructor() {
    super('The answer is no.')
  }
}

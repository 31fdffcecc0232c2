/** The command line is not one that the command understands. */
export class UsageError extends Error {}

/** The command has printed all it has to say, and what it says is that something is wrong. */
export class NegativeAnswer extends Error {
  constructor() {
    super('The answer is no.')
  }
}

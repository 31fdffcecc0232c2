/** The command line is not one that the command understands. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** The command has printed all it has to say, and what it says is that something is wrong. */
export class NegativeAnswer extends Error {
  constructor() {
    super('The answer is no.')
    this.name = 'NegativeAnswer'
  }
}

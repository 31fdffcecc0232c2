type Broken = { model: string; said: string; cited: readonly string[]; cause?: unknown }

/** A language model that gave no answer, or not the whole of one. The cause is what its client threw. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly model: string
  /** What was yielded before. */
  readonly said: string
  readonly cited: readonly string[]

  constructor(message: string, { model, said, cited, cause }: Broken) {
    super(message, { cause })
    this.model = model
    this.said = said
    this.cited = cited
  }
}

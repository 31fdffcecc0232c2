import type { ModelGap } from './model-draft.ts'

/** Thrown if a language model returned nothing usable. The message is for operators. */
export class CompilerModelError extends Error {
  override readonly name = 'ModelError'
  readonly gap: ModelGap

  constructor(gap: ModelGap, message: string, options?: ErrorOptions) {
    super(message, options)
    this.gap = gap
  }
}

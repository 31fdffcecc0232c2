import type { ModelGap } from './model-draft.ts'

/** A language model that gave nothing to use. The message is for operators. */
export class CompilerModelError extends Error {
  override readonly name = 'ModelError'
  readonly gap: ModelGap

  constructor(gap: ModelGap, message: string, options?: ErrorOptions) {
    super(message, options)
    this.gap = gap
  }
}

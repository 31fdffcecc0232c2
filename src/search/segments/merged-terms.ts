import type { DictionaryCursor } from './format/dictionary.ts'

/** The terms of a dictionary, and whose it is. */
export type TermsOf<Owner> = { owner: Owner; terms: DictionaryCursor }

/** Goes over the terms of several dictionaries as one, in the order of their UTF-8 bytes. */
export class MergedTerms<Owner> {
  readonly #all: readonly TermsOf<Owner>[]
  readonly #prefix: Uint8Array
  /** The dictionaries that have the term, in their order. None behind the last. */
  readonly at: TermsOf<Owner>[] = []

  /** @param all at the first of their terms with a prefix @param prefix ends with the last term that begins with it */
  constructor(all: readonly TermsOf<Owner>[], prefix: Uint8Array) {
    this.#all = all
    this.#prefix = prefix
    this.next()
  }

  next(): void {
    for (const { terms } of this.at) terms.next()
    this.at.length = 0
    for (const one of this.#all) {
      if (!one.terms.beginsWith(this.#prefix)) continue
      const compared = this.at[0] === undefined ? 0 : one.terms.compare(this.at[0].terms)
      if (compared < 0) this.at.length = 0
      if (compared <= 0) this.at.push(one)
    }
  }
}

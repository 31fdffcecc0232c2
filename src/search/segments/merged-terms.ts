import type { DictionaryCursor } from './format/dictionary.ts'

/** The terms of a dictionary, and whose it is. */
export type TermsOf<Owner> = { owner: Owner; terms: DictionaryCursor }

/** Goes over the terms of several dictionaries as one, in the order of their UTF-8 bytes. */
export class MergedTerms<Owner> {
  /** Those that have more terms. */
  #left: readonly TermsOf<Owner>[]
  readonly #prefix: Uint8Array
  /** The dictionaries that have the term, in their order. None behind the last. */
  readonly at: TermsOf<Owner>[] = []

  /** @param all at the first of their terms with a prefix @param prefix ends with the last term that begins with it */
  constructor(all: readonly TermsOf<Owner>[], prefix: Uint8Array) {
    this.#left = all.filter(({ terms }) => terms.beginsWith(prefix))
    this.#prefix = prefix
    this.#findFirst()
  }

  next(): void {
    let isOneAtEnd = false
    for (const { terms } of this.at) {
      terms.next()
      // A term that shares so much with one that begins with the prefix does so, too.
      if (!terms.isAt || (terms.shared < this.#prefix.length && !terms.beginsWith(this.#prefix))) isOneAtEnd = true
    }
    if (isOneAtEnd) this.#left = this.#left.filter(({ terms }) => terms.beginsWith(this.#prefix))
    this.#findFirst()
  }

  #findFirst(): void {
    this.at.length = 0
    for (const one of this.#left) {
      const compared = this.at[0] === undefined ? 0 : one.terms.compare(this.at[0].terms, this.#prefix.length)
      if (compared < 0) this.at.length = 0
      if (compared <= 0) this.at.push(one)
    }
  }
}

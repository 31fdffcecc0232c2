/** Remedy if the repository is not the one that was linked. */
export const otherRepository =
  'If it is the right one, unlink the knowledge base and link it again: what waits then gets new pull requests'

/** Thrown if the forge is in an implausible state. Nothing is changed on either side until it is plausible again, or a person has acted. */
export class ForgePaused extends Error {
  /** @param remedy a sentence for a person, without a full stop */
  constructor(what: string, remedy: string) {
    super(`Paused, nothing is changed on either side: ${what}. ${remedy}.`)
  }
}

/** What to do where the repository is not the one that was linked. */
export const otherRepository =
  'If it is the right one, unlink the knowledge base and link it again: what waits then gets new pull requests'

/** The forge looks wrong: nothing is changed on either side until it looks right, or a person has done something. */
export class ForgePaused extends Error {
  /** @param remedy a sentence for a person, without a full stop */
  constructor(what: string, remedy: string) {
    super(`Paused, nothing is changed on either side: ${what}. ${remedy}.`)
  }
}

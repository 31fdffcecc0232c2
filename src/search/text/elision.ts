/** By BCP 47 language, articles and pronouns that lose their vowel before another; the lists of Lucene's ElisionFilter. */
const elided: Readonly<Record<string, RegExp>> = {
  ca: /^[dlmnst]['’＇]/i,
  fr: /^(?:[cdjlmnst]|qu|jusqu|quoiqu|lorsqu|puisqu)['’＇]/i,
  ga: /^[bdm]['’＇]/i,
  it: /^(?:[cdlmstv]|all|dall|dell|nell|sull|coll|pell|gl|agl|dagl|degl|negl|sugl|un)['’＇]/i,
}

/** The length of what stands elided before a word: 2 of French `l'école`. */
export function elisionOf(word: string, language: string): number {
  return elided[language]?.exec(word)?.[0].length ?? 0
}

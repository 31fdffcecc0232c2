/** By BCP 47 language, articles and pronouns that lose their vowel before another; the lists of Lucene's ElisionFilter. */
const elided: Readonly<Record<string, RegExp>> = {
  ca: /^[dlmnst]['’＇]/i,
  fr: /^(?:[cdjlmnst]|qu|jusqu|quoiqu|lorsqu|puisqu)['’＇]/i,
  ga: /^[bdm]['’＇]/i,
  it: /^(?:[cdlmstv]|all|dall|dell|nell|sull|coll|pell|gl|agl|dagl|degl|negl|sugl|un)['’＇]/i,
}

const elidedAnywhere = /^(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu|d?all|[dns]ell|sull|un)'(?=[aeiouyh]\p{L})/u
/** `'s`, and what is said in one with a pronoun: without their sign they are other words, as `well` is of `we'll`. */
const contracted = /'(?:s|d|m|ll|re|ve)?$/

/** What else a word with an apostrophe is found by, folded: without it (`dont`), and without an article of another language. */
export function withoutElision(folded: string): string[] {
  if (!folded.includes("'")) return []
  const words = [folded.replace(elidedAnywhere, '')]
  if (!contracted.test(folded)) words.push(folded.replaceAll("'", ''))
  return words.filter((word) => word !== folded)
}

/** The length of what stands elided before a word: 2 of French `l'école`. */
export function elisionOf(word: string, language: string): number {
  return elided[language]?.exec(word)?.[0].length ?? 0
}

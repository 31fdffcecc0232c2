import { fold, foldCase, withoutPoints } from '../../rules/text/fold.ts'

/**
 * Returns a function that unifies spellings: English as in the United States, German with umlauts (`Mueller`, `Müller`). It takes
 * a word in lower case, before stemming. A language without rules keeps its words.
 */
export function respellerFor(language: string): (word: string) => string {
  if (language === 'en') return toAmerican
  if (language === 'de') return toUmlauts
  return (word) => word
}

/**
 * Returns a function that writes letters of other languages as on a keyboard without them: `mueller` for `müller`, `aarhus` for
 * `århus`. German needs none: see {@link respellerFor}.
 */
export function transliteratorFor(language: string): (word: string) => string {
  if (!transliterating.has(language)) return (word) => word
  return (word) => word.replace(/[äöüåø]/g, (letter) => transliterations[letter] ?? letter)
}

const transliterating: ReadonlySet<string> = new Set(['en', 'da', 'nb', 'nn', 'no'])
const transliterations: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' }

/** Returns a function that splits a word in two, with a space: English nouns made of a verb and a particle, in either order. */
export function splitterFor(language: string): (word: string) => string | undefined {
  if (language !== 'en') return () => undefined
  return (word) => {
    const { verb, particle, before, rest } = verbWithParticle.exec(word)?.groups ?? {}
    if (before !== undefined) return `${before} ${rest}`
    return verb === undefined ? undefined : `${verb} ${particle}`
  }
}

/** Matches a noun of verb and particle. `in` and `on` end too many other words, so only the usual verbs are listed with them. */
const verbWithParticle =
  /^(?:(?<verb>\p{L}{3,})(?<particle>around|away|back|down|off|out|over|through|up)|(?<verb>add|check|log|opt|plug|sign)(?<particle>in|on)|(?<before>on|off)(?<rest>board\p{L}*|\p{L}{3,}ing))$/iu

/** Writes umlauts, as Lucene's GermanNormalizationFilter: `ue` is no umlaut after a vowel or `q`, as in `neue` and `Quelle`. */
function toUmlauts(word: string): string {
  return word
    .replace(/ae/g, 'ä')
    .replace(/oe/g, 'ö')
    .replace(/(?<![aeiouyäöüq])ue/g, 'ü')
}

/** Stems before `is` of words that end in `-ise` in all varieties of English. */
const alwaysIs =
  `adv advert an appra ar ba bra bru cer chast chem cho circumc compr comprom conc cru dem desp dev disgu enterpr exc
  exerc expert franch gu improv inc lia mala marqu mayonna merchand mort no parad po polona porpo pra pract prec prem prom ra repr rev
  superv surm surpr telev torto treat turquo vals`.split(/\s+/)

/**
 * British spellings and the American ones, by the classes of
 * https://en.wikipedia.org/wiki/American_and_British_English_spelling_differences. The first rule that matches applies. A wrongly
 * respelled word is still found, because queries follow the same rules.
 */
const americanRules: readonly (readonly [british: RegExp, american: string])[] = [
  [/(ana|cata|para|hydro|electro|dia)lys(?=e[drs]?$|ing$)/, '$1lyz'],
  [
    new RegExp(
      `^(?!(?:re|un|mis|over|dis|pre)?(?:${alwaysIs.join('|')})is)(.{2,}(?<!w))is(?=e[drs]?$|ers$|ing$|able$|ations?$|ational$)`,
    ),
    '$1iz',
  ],
  [
    /(ard|arm|behavi|cand|clam|col|endeav|fav|ferv|flav|glam|harb|hon|hum|lab|neighb|od|parl|ranc|rig|rum|sav|splend|tum|val|vap|vig)our/,
    '$1or',
  ],
  [/^manoeuvr(?:e(?=s?$)|(?=ed$|ing$))/, 'maneuver'],
  [/(cent|theat|lit|met|fib|calib|lust|somb|spect|scept|sab|meag|och)re(?=s?$)/, '$1er'],
  [/(cent|met)red$/, '$1ered'],
  [/(anal|catal|dial|epil|monol|prol)ogu(?:e(?=s?$)|(?=ed$|ing$))/, '$1og'],
  [/^(def|off|pret|lic)ence/, '$1ense'],
  [/^practis/, 'practic'],
  [
    /(cancel|channel|counsel|dial|equal|fuel|funnel|initial|jewel|label|level|libel|marvel|model|panel|pencil|quarrel|rival|shovel|signal|spiral|total|travel|tunnel)l(?=ed$|ing|er)/,
    '$1',
  ],
  [/^(enrol|instal|fulfil)(?=s|ment|$)/, '$1l'],
  [/^(skil|wil)ful/, '$1lful'],
  [/aem(?=[aio])/, 'em'],
  [/^(an|)aesth/, '$1esth'],
  [/^(arch|encyclop|f|gyn|medi|orthop|p|pal)ae(?=[cdov])/, '$1e'],
  [/^(am|c|f|hom)oe(?=b|li|t|o)/, '$1e'],
  [/^oe(?=dem|soph|str)/, 'e'],
  [/rrhoe/, 'rrhe'],
  [/^(judg|acknowledg)ement/, '$1ment'],
  [/^ageing$/, 'aging'],
  [/^aluminium/, 'aluminum'],
  [/^artefact/, 'artifact'],
  [/^cosy$/, 'cozy'],
  [/^grey/, 'gray'],
  [/^mould/, 'mold'],
  [/^plough/, 'plow'],
  [/^programmes?$/, 'program'],
  [/^pyjama/, 'pajama'],
  [/^sceptic/, 'skeptic'],
  [/^sulph/, 'sulf'],
  [/^tyre/, 'tire'],
]

/** Matches if any rule does: most words match none, which one expression finds sooner. */
const anyAmericanRule = new RegExp(americanRules.map(([british]) => british.source).join('|'))

function toAmerican(word: string): string {
  if (!anyAmericanRule.test(word)) return word
  for (const [british, american] of americanRules) {
    const spelled = word.replace(british, american)
    if (spelled !== word) return spelled
  }
  return word
}

/** Patterns of articles and pronouns that lose their vowel before another, by BCP 47 language. From the lists of Lucene's ElisionFilter. */
const elided: Readonly<Record<string, RegExp>> = {
  ca: /^[dlmnst]['’＇]/i,
  fr: /^(?:[cdjlmnst]|qu|jusqu|quoiqu|lorsqu|puisqu)['’＇]/i,
  ga: /^[bdm]['’＇]/i,
  it: /^(?:[cdlmstv]|all|dall|dell|nell|sull|coll|pell|gl|agl|dagl|degl|negl|sugl|un)['’＇]/i,
}

const elidedAnywhere = /^(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu|d?all|[dns]ell|sull|un)'(?=[aeiouyh]\p{L})/u
/** Matches contracted endings such as `'s` and `'ll`. Without the apostrophe they are other words: `we'll` and `well`. */
const contracted = /'(?:s|d|m|ll|re|ve)?$/

/** Returns alternatives of a folded word with an apostrophe: without it (`dont`), and without an article of another language. */
export function withoutElision(folded: string): string[] {
  if (!folded.includes("'")) return []
  const words = [folded.replace(elidedAnywhere, '')]
  if (!contracted.test(folded)) words.push(folded.replaceAll("'", ''))
  return words.filter((word) => word !== folded)
}

/** Returns the length of an elided article: 2 for French `l'école`. */
export function elisionOf(word: string, language: string): number {
  return elided[language]?.exec(word)?.[0].length ?? 0
}

const ascii = /^[\0-\x7f]*$/
/** Matches words that folding keeps: nearly all of English. */
const folded = /^[a-z]+$/
const notOfWords = /[^\p{L}\p{N}\p{M}']+/gu

/** Folds a word for comparison, before stemming: `10000` for `10,000`, `don't` for `DON’T`. */
export function foldWord(word: string): string {
  if (folded.test(word)) return word
  return bareWord(ascii.test(word) ? word.toLowerCase() : fold(word))
}

/** Lower-cases a word and keeps its diacritics, but not the points that Arabic and Hebrew mostly omit. */
export function spelledWord(word: string): string {
  return bareWord(ascii.test(word) ? word.toLowerCase() : withoutPoints(foldCase(word.normalize('NFKC'))))
}

/** Strips characters that are not part of a word: thousands separators, joiners, the brackets of a folded `⑴`. */
function bareWord(word: string): string {
  if (folded.test(word)) return word
  const bare = plainApostrophes(word).replace(notOfWords, '')
  return /[\u0900-\u097f]/.test(bare) ? oneNasal(bare) : bare
}

/** Writes Hindi nasals before a consonant of their class as a dot, and drops the dot below: `हिंदी` for `हिन्दी`. */
function oneNasal(word: string): string {
  return word.replace(/\u093c/g, '').replace(/\u0901|ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])/g, '\u0902')
}

/** Replaces the typographic apostrophe, and the letter that looks like it, by `'`. */
export function plainApostrophes(text: string): string {
  return text.replace(/[’ʼ]/g, "'")
}

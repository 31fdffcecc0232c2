/** Kind of an English question. */
export type Kind =
  | 'who' // a person or an organisation
  | 'when' // a date, a time, a version, or a condition
  | 'duration' // a length of time, or how often
  | 'quantity' // a number, with the unit or the noun that was asked for
  | 'yes or no'
  | 'way' // a procedure
  | 'definition'
  | 'place' // a path, an address, a menu
  | 'reason'
  | 'choice' // `which port`: one of a kind of things
  | 'other'

/** Patterns of the kinds. The one that matches first in a question decides, then the order of this list. */
const kinds: readonly [kind: Kind, asks: RegExp][] = [
  ['yes or no', /^\W*(?:is|are|am|was|were|do|does|did|can|could|may|must|should|will|would|has|have)\b/i],
  ['way', /\bwhat(?:['’]s| is)? the command\b|\bwhich command\b|\bwhat (?:can|do|must|should) (?:i|we|you|one) do\b/i],
  [
    'duration',
    /\bhow (?:long|often|soon|quickly|fast|frequently)\b|\bhow many (?:second|minute|hour|day|week|month|year)s?\b/i,
  ],
  [
    'quantity',
    /\bhow (?:many|much|large|big|small|high|low|wide|deep|heavy|far|old|strong)\b|\bwhat (?:do|does|did|is|would)\b.* costs?\b|\bwhat(?:['’]s| is) the most\b|\b(?:what|which)(?:['’]s| is| are)?(?: the)? (?:percentage|share|amount|number|size|price|max(?:imum)?|min(?:imum)?|(?:big|long|larg|high|low|small|short|great)est)\b/i,
  ],
  [
    'when',
    /\bwhen\b|\b(?:what|which) (?:time|date|day|month|year)\b|\b(?:since|until|till|from|in) (?:what|which) version\b/i,
  ],
  ['who', /\bwho(?:m|se)?\b|\b(?:what|which) (?:person|people|company|organi[sz]ation|team|vendor)\b/i],
  ['place', /\bwhere\b|\b(?:in )?(?:what|which) (?:place|folder|directory|path|menu|city|cities|country|countries)\b/i],
  ['reason', /\bwhy\b|\bhow come\b|\bwhat(?:['’]s| is) the reason\b/i],
  [
    'way',
    /\bhow (?:to\b|(?:do|can|could|should|would|might|must|shall|may) (?:i|we|you|one|people|users?|somebody|someone|anyone)\b)/i,
  ],
  ['other', /\bhow\b/i],
  ['definition', /\bwhat (?:does|do) .{1,40}\b(?:do|mean|stand for)\b|\bwhat(?:['’]s| is| are) .{1,40} for\s*\??\s*$/i],
  [
    'definition',
    /\bwhat(?:['’]s| is| are) (?:an? |the )?(?!default\b|current\b|latest\b|first\b|last\b|name\b)[^\s?]+(?: [^\s?]+)?\s*\??\s*$/i,
  ],
  [
    'choice',
    /\b(?:which|what) (?!(?:is|are|was|were|do|does|did|can|if|about|happens?|should|would|must|will)\b)\p{L}+/iu,
  ],
  ['other', /\bwhat\b|\bwhich\b/i],
]

const auxiliary = 'is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have'
/** Matches the nouns of `which …` and `how many …`, up to a verb that cannot be one of them. */
const nouns = new RegExp(
  String.raw`\b(?:which|how many|how much)\s+(?!(?:${auxiliary}|of)\b)(?:((?:[^\s?,]+\s+){0,3}?[^\s?,]+)(?=\s+(?:${auxiliary}|comes?|needs?|gets?|gives?|exists?|works?|there|i|we|you)\b)|((?:[^\s?,]+\s+){0,2}?[^\s?,]+)(?=\s*\??\s*$))`,
  'i',
)
/** Matches the first word if no such verb follows: the next word may be another verb. */
const firstNoun = /\b(?:which|how many|how much)\s+(?!(?:is|are|of|do|does|did|can|should|will|would)\b)([^\s?,]+)/i

export function kindOf(question: string): Kind {
  const found = kinds.map(([kind, asks]) => ({ kind, at: question.search(asks) })).filter(({ at }) => at >= 0)
  return found.toSorted((a, b) => a.at - b.at)[0]?.kind ?? 'other'
}

/** Returns the noun that an English question asks for: `free disk space`; empty if there is none. */
export function focusOf(question: string): string {
  const [, before, last] = nouns.exec(question) ?? firstNoun.exec(question) ?? []
  return before ?? last ?? ''
}

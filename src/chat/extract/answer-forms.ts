const counting = 'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|millions?'
/** Matches a number outside names, identifiers and times: not the 1 of `SEV1`. */
const number = String.raw`(?<![\p{L}\d_.#:-])\d[\d.,]*(?![\d_]|:\d)`
const month = '(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*'
const span = '(?:ms|(?:milli)?seconds?|secs?|s|min(?:ute)?s?|h|hrs?|hours?|d|days?|weeks?|months?|quarters?|years?)'

const duration = String.raw`(?:${number}|\b(?:${counting}|an?)\b)[\s-]*(?:business |working |calendar )?${span}\b|\b(?:immediately|at once|forever|indefinitely|always|never|until|once|twice|every|each|\p{L}+(?:ly|ually))\b`
const quantity = String.raw`${number}|\b(?:${counting}|half|none|no|unlimited|any number|free)\b(?! of\b)`
const time = String.raw`\b(?:19|20)\d\d\b|\bv?\d+\.\d+|\b${month}\.?\s+\d|\d(?:\.|st|nd|rd|th)?\s+${month}\b|\b\d{1,2}(?::\d\d|\s*[ap]m\b)|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:today|tomorrow|noon|midnight|mornings?|evenings?|when(?:ever)?|if|after|before|once|until|while|during|as (?:soon|long) as|on (?:start|exit|demand|save)\w*|every|each|daily|weekly|monthly|at (?:the )?(?:night|end|start|beginning)|by default|within|upon|unless|immediately|always|never)\b`
const person = String.raw`@\p{L}|\b(?:teams?|leads?|managers?|heads?|officers?|owners?|engineers?|commanders?|curators?|admins?|administrators?|directors?|developers?|maintainers?|authors?|users?|members?|moderators?|support|staff|(?:any|every|no)(?:one|body)|whoever|people|person|compan(?:y|ies)|community|customers?|employees?|guests?)\b|(?<=[\p{L}\p{N},)]\s["“'(*_[]{0,3})(?-i:\p{Lu})[\p{L}\p{N}]+|^[\s*+-]*(?!(?:It|This|That|There)\b)(?-i:\p{Lu}\p{Ll}+ \p{Ll}+s)\b`
/** Forms of the answers to English questions, by the first words that ask. */
const forms: readonly [asks: RegExp, shows: RegExp][] = [
  [
    /^how (?:long|often|soon|quickly|fast|frequently)\b|^how many (?:second|minute|hour|day|week|month|year)s?\b/i,
    new RegExp(duration, 'giu'),
  ],
  [
    /^how (?:many|much|large|big|small|high|low|wide|deep|heavy|far|old|strong)\b|^(?:what|which)(?:['’]s| is| are)?(?: the)? (?:percentage|share|amount|number|size|price|port|max\w*|min\w*|most|\w+est)\b/i,
    new RegExp(quantity, 'giu'),
  ],
  [/^when\b|^(?:what|which) (?:time|date|day|month|year|version)\b/i, new RegExp(time, 'giu')],
  [/^who|^(?:what|which) (?:person|people|company|team|vendor|organi[sz]ation)\b/i, new RegExp(person, 'gimu')],
]
const asking = /\bwho(?:m|se)?\b|\bwhen\b|\bwhere\b|\bwhy\b|\b(?:how|what|which)\b.*/i

const denials =
  'not|cannot|never|neither|nor|no|none|nobody|without|except|exclud(?:e|es|ed|ing)|deprecated|obsolete|discontinued|removed|forbidden|prohibited|disallowed|rejected|impossible|invisible|hidden|un(?:supported|available|paid|able|taxed|limited)'
const denial = new RegExp(String.raw`\b(?:${denials})\b|n['’]t\b`, 'i')
const limit = new RegExp(String.raw`\b(?:${denials}|only|unless|must|at (?:least|most)|up to|until)\b|n['’]t\b`, 'i')
/** Stems of verbs and of their opposites. */
const opposites =
  'enable:disable start:stop add:remove open:close show:hide allow:forbid lock:unlock include:exclude turn.on:turn.off mount:unmount install:uninstall'
    .split(' ')
    .map((pair) => pair.split(':').map((stem) => new RegExp(String.raw`\b${stem}`, 'i')))

/** True if an English question asks whether something is so. */
export function asksWhether(question: string): boolean {
  return /^\W*(?:is|are|am|was|were|do|does|did|can|could|may|must|should|will|would|has|have)\b/i.test(question)
}

/**
 * Returns a test of texts that cannot answer an English question: they lack the person, time or number or the denial that it asks
 * for, or have the opposite verb.
 */
export function mismatchWith(question: string): (text: string) => boolean {
  const [asked = ''] = asksWhether(question) ? [] : (asking.exec(question) ?? [])
  const [, shows] = forms.find(([asks]) => asks.test(asked)) ?? []
  const known = question.replace(asking, (phrase) => phrase.replace(/^\w+/, '')).toLowerCase()
  const wantsDenial = denial.test(question) && asked !== '' && !/^(?:why|how)\b/i.test(asked)
  return (text) =>
    (wantsDenial && !denial.test(text)) ||
    opposites.some((pair) =>
      pair.some((verb, at) => verb.test(question) && !verb.test(text) && pair[1 - at]?.test(text)),
    ) ||
    (shows !== undefined && !text.matchAll(shows).some(([found]) => !known.includes(found.toLowerCase())))
}

/** True if an English text denies or restricts something. */
export function limits(text: string): boolean {
  return limit.test(text)
}

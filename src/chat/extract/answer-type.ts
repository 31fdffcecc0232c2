import type { Kind } from './question-kind.ts'

const span = '(?:ms|(?:milli)?seconds?|s|secs?|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|quarters?|years?)'
const counting =
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty|ninety|hundreds?|thousands?|millions?'
const month =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
/** A number outside names, identifiers and times: not the 1 of `SEV1`. */
const number = String.raw`(?<![\p{L}\d_.#:-])\d[\d.,]*(?![\d_]|:\d)`
const amount = String.raw`(?:${number}|\b(?:${counting}|an?)\b)`
const verbs =
  'activate|add|adjust|append|apply|ask|assign|attach|avoid|build|call|change|check|choose|clear|click|clone|close|configure|confirm|connect|contact|copy|create|define|delete|deploy|disable|download|drag|edit|enable|ensure|enter|export|fetch|fill|find|follow|generate|give|go|hold|import|include|insert|install|invoke|keep|launch|load|log|make|mount|move|merge|navigate|open|override|page|pass|paste|place|press|provide|pull|push|put|raise|read|reload|remove|rename|replace|report|request|restart|restore|return|review|run|save|scroll|search|see|select|send|set|sign|specify|start|stop|submit|switch|tap|tell|test|toggle|turn|type|uninstall|update|upgrade|upload|use|verify|view|visit|wait|write'
/** Matches an instruction, at the beginning or after an adverbial: `In the menu, click …`. */
export const instruction = new RegExp(
  String.raw`^(?:(?:in|on|at|under|from|to|then)\b[^,.]{0,60},\s)?["“*_\x60]*(?:${verbs})\b`,
  'i',
)

/** Patterns of answers, by the kind of English question. */
const shown = {
  who: /@\p{L}|\b(?:teams?|leads?|managers?|heads?|officers?|owners?|engineers?|commanders?|curators?|admins?|administrators?|directors?|developers?|maintainers?|authors?|users?|members?|moderators?|support|staff|anyone|everyone|nobody|whoever|people|person|company|companies|community|customers?|employees?|guests?)\b|\bby:?[*_]* (?!\p{L}+ing\b)(?:the |an? )?\p{L}{3,}/iu,
  when: new RegExp(
    String.raw`(?<![\d.])(?:19|20)\d\d(?!\d|\.\d)|\b${month}\.?\s+\d|\d(?:\.|st|nd|rd|th)?\s+${month}\b|\b\d{1,2}:\d\d|\b\d{1,2}\s*[ap]m\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:today|tomorrow|noon|midnight|(?:morning|afternoon|evening|weekend|weekday|holiday)s?)\b`,
    'iu',
  ),
  duration: new RegExp(
    String.raw`${amount}[\s-]*(?:business |working |calendar )?${span}\b|\b(?:immediately|instantly|at once|forever|indefinitely|always|never|until)\b`,
    'iu',
  ),
  quantity: new RegExp(
    String.raw`${number}|\b(?:${counting}|dozens?|half|none|no|unlimited|any number|free)\b(?! of\b)`,
    'iu',
  ),
  way: new RegExp(
    String.raw`\x60[^\x60]*[\s(=/.-][^\x60]*\x60|[a-z]\(|\s--?[a-z]|(?:^|[.:,;]\s|\b(?:you|one|must|should|can|may|need to|have to|please|first|simply|then)\s)["“*_\x60]*(?:${verbs})\b|\bby \p{L}+ing\b|\b(?:allows?|lets?|enables?) (?:you|us|one|users?)\b|\b(?:is|are) \p{L}+(?:ed|en) (?:by|in|with|at|via|through|using|from)\b`,
    'imu',
  ),
  place:
    /[\w~.-]*\/[\w.-]+|(?<![\w.])\.[a-z]\w+|→|&gt;|\s>\s|`[^`]+`|\*\*[^*]+\*\*|\b(?:in|on|at|under|below|above|inside|within|into|from|to) (?:the |your |an? |its |this )?["“*_`]*[\p{L}\p{N}.]/iu,
  reason:
    /\b(?:because|since|due to|so that|so as|in order|therefore|thus|hence|reasons?|causes?|caused|to (?:avoid|prevent|ensure|protect|keep|make sure|allow)|otherwise|results? in|leads? to|so you|useful|prevents?|allows?|lets?|helps?|means?|happens?|ensures?|must|requires?|needs?|advantages?|benefits?)\b/i,
}
/** Matches a name, also as the subject of a sentence without an article: `Finance approves it`. */
const name =
  /(?<=[\p{L}\p{N},)]\s["“'(*_[]{0,3})\p{Lu}[\p{L}\p{N}]+|\p{Lu}\p{Ll}+\p{Lu}\p{Ll}+|^(?!(?:It|This|That|There)\b)\p{Lu}\p{Ll}+ \p{Ll}+s\b/u
const condition =
  /\b(?:when(?:ever)?|if|after|before|once|twice|until|while|during|as soon as|as long as|on (?:start(?:up)?|exit|demand|restart|save)|every|each|daily|weekly|monthly|at (?:night|(?:the )?(?:end|start|beginning))|by default|within|upon|unless|immediately|always|never|triggers?)\b/i
const frequency = /\b(?:hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually|once|twice|every|each)\b/i
const version = /\bv?\d+\.\d+/i
const measured = new RegExp(
  String.raw`${amount}\s*(?:%|percent|[kmgt]i?b\b|(?:kilo|mega|giga|tera)?bytes?\b|[€$£]|euros?\b|dollars?\b|USD|EUR|${span}\b)|[€$£]\s?\d|\b(?:unlimited|half|none|free|nothing)\b`,
  'iu',
)

const asksForDate = /\bwhen (?:was|were|did|will)\b|\b(?:what|which) (?:date|day|month|year|time)\b|\bversion\b/i
const asksForVersionAlone = /\b(?:what|which) version\b/i
/** Verbs with which a page may state a version or a date. */
const asksForVersion = /\b(?:what|which) version\b|\bwhen .*\b(?:add|introduc|deprecat|remov|chang|drop|support)\w*/i
const asksForNumber = /\b(?:which|what) (?:\p{L}+ )?(?:ports?|version|number)\b/iu

/**
 * True if a text contains what a kind of question asks for, other than what the question itself says: the 2.0 of `When was 2.0
 * released?` is no date.
 * @param text Markdown
 */
export function showsType(kind: Kind, text: string, asked: string): boolean {
  const adds = (pattern: RegExp) => addsMatch(pattern, text, asked)
  switch (kind) {
    case 'who':
      return !instruction.test(text) && (adds(shown.who) || adds(name))
    case 'when':
      return (
        (asksForVersion.test(asked) && adds(version)) ||
        (!asksForVersionAlone.test(asked) && adds(shown.when)) ||
        (!asksForDate.test(asked) && condition.test(text))
      )
    case 'duration':
      return adds(shown.duration) || (!/\bhow (?:long|many)\b/i.test(asked) && frequency.test(text))
    case 'quantity':
      return adds(/\bhow much\b|\bcosts?\b/i.test(asked) ? measured : shown.quantity)
    case 'way':
      return shown.way.test(text) && !/\b(?:cannot|can['’]t|(?:is|are) not)\b/i.test(text)
    case 'place':
      return shown.place.test(text)
    case 'reason':
      return shown.reason.test(text)
    case 'choice':
      return !asksForNumber.test(asked) || adds(shown.quantity)
    default:
      return true
  }
}

function addsMatch(pattern: RegExp, text: string, asked: string): boolean {
  const known = asked.toLowerCase()
  return text.matchAll(new RegExp(pattern, `${pattern.flags}g`)).some(([found]) => !known.includes(found.toLowerCase()))
}

/** True if a text has a number within a few words of a noun, in the form of the question. */
export function counts(noun: string, text: string): boolean {
  const stem = noun.toLowerCase().replace(/(?:ies|es|s|y)$/, '')
  if (stem === '') return true
  const many = String.raw`(?:${number}(?:\s?(?:%|[kmgt]i?b\b))?|\b(?:${counting}|dozens?|half|no|single|unlimited)\b)`
  return new RegExp(
    String.raw`${many}(?:[\s-]+[^\s.;:-]+){0,5}?[\s-]+["*_(]*\b${stem}|\b${stem}\p{L}*[*_\x60"]*(?:[:=]|\s\(|\s(?:is|are)\s)[\s*_\x60"]*(?:\p{L}+\s)?${many}`,
    'iu',
  ).test(text)
}

/** English words of denial. */
const denials =
  'not|cannot|never|neither|nor|no|none|nobody|no longer|without|except|exclud(?:e|es|ed|ing)|deprecated|obsolete|discontinued|removed|forbidden|prohibited|disallowed|rejected|impossible|invisible|hidden|un(?:supported|available|paid|able|taxed|limited)'
const denial = new RegExp(String.raw`\b(?:${denials})\b|n['’]t\b`, 'i')
/** Words of denial or of a condition. */
const limit = new RegExp(String.raw`\b(?:${denials}|only|unless|must|at (?:least|most)|up to|until)\b|n['’]t\b`, 'i')

/** True if a text denies something. */
export function denies(text: string): boolean {
  return denial.test(text)
}

/** True if a text denies or restricts something. */
export function limits(text: string): boolean {
  return limit.test(text)
}

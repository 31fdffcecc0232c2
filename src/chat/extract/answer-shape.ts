import type { Kind } from './question-kind.ts'

const timeUnit =
  '(?:ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|quarters?|years?)'
const numberWord =
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty|ninety|hundreds?|thousands?|million|a|an'
const month =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
const weekday = '(?:mon|tues|wednes|thurs|fri|satur|sun)days?'
/** A number that is none of a name or an identifier: not the 1 of `SEV1`. */
const number = String.raw`(?<![\p{L}\d_.#-])\d[\d.,]*(?![\d_])`

const lengthOfTime = new RegExp(
  String.raw`(?:${number}[\s-]*|\b(?:${numberWord})[\s-]+)(?:business |working |calendar )?${timeUnit}\b`,
  'iu',
)
const lasting = /\b(?:immediately|instantly|at once|forever|indefinitely|always|never|until)\b/i
const frequency =
  /\b(?:daily|hourly|nightly|weekly|monthly|quarterly|yearly|annually|once|twice|immediately|instantly|at once|always|never|every|each)\b/i
const date = new RegExp(
  String.raw`(?<![\d.])(?:19|20)\d\d(?!\d|\.\d)|\b${month}\.?\s+\d|\d(?:\.|st|nd|rd|th)?\s+${month}\b|\b\d{1,2}:\d\d|\b\d{1,2}\s*[ap]m\b|\b${weekday}\b|\b(?:today|tomorrow|noon|midnight)\b`,
  'iu',
)
const version = /\bv?\d+\.\d+/i
const condition =
  /\b(?:when(?:ever)?|if|after|before|once|twice|until|while|during|as soon as|as long as|on (?:start(?:up)?|exit|demand|restart|save)|every|each|daily|weekly|monthly|at night|at (?:the )?(?:end|start|beginning)|by default|within|upon|unless|immediately|always|never|triggers?)\b/i
const quantity = new RegExp(
  String.raw`${number}|\b(?:(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|millions?)(?! of\b)|half|none|no|unlimited|any number|free)\b`,
  'iu',
)
/** Words for people; a name is a capital that does not begin the sentence, or several in a row. */
const role =
  /@\p{L}|\b(?:teams?|leads?|managers?|heads?|officers?|owners?|engineers?|commanders?|curators?|admins?|administrators?|directors?|developers?|maintainers?|authors?|users?|members?|collaborators?|moderators?|support|staff|anyone|everyone|nobody|whoever|people|person|company|companies|community)\b/iu
const name =
  /(?<=[\p{L}\p{N},)]\s(?:\[\s?|["“'(*_]*))\p{Lu}[\p{L}\p{N}]+|\p{Lu}\p{Ll}+\p{Lu}\p{Ll}+|\p{Lu}\p{Ll}+ (?:\p{Lu}\. )?\p{Lu}\p{Ll}+/gu
const place =
  /[\w~.-]*\/[\w.-]+|(?<![\w.])\.[a-z]\w+|\bhttps?:|→|&gt;|\s>\s|`[^`]+`|\*\*[^*]+\*\*|\b(?:in|on|at|under|below|above|inside|within|into|from|next to|beside|to) (?:the |your |an? |its |this )?["“*_`]*[\p{L}\p{N}.]/iu
const reason =
  /\b(?:because|since|due to|so that|so as|in order|therefore|thus|hence|reasons?|causes?|caused|to (?:avoid|prevent|ensure|protect|keep|make sure|allow)|this is|otherwise|results? in|leads? to|so you|useful|as (?:a|it|they|this|the)|prevents?|allows?|lets?|helps?|means?|happens?|ensures?|must|requires?|needs?|advantages?|benefits?)\b/i
/** How manuals tell to do something: a verb in the imperative at the beginning, or after what it is for. */
const verbs =
  'activate|add|adjust|allow|append|apply|approve|ask|assign|attach|avoid|build|call|change|check|choose|clear|click|clone|close|configure|confirm|connect|contact|copy|create|define|delete|deploy|disable|download|drag|edit|enable|ensure|enter|escalate|export|fetch|fill|find|follow|generate|give|go|hand|hold|import|include|inform|initiali[sz]e|insert|install|invoke|keep|launch|load|log|make|mount|move|merge|navigate|notify|open|override|page|pass|paste|place|press|provide|pull|push|put|raise|read|reject|reload|reopen|remove|rename|replace|reply|report|request|restart|restore|return|review|run|save|scroll|search|see|select|send|set|sign|specify|start|stop|submit|supply|switch|tap|tell|test|toggle|turn|type|uninstall|update|upgrade|upload|use|verify|view|visit|wait|write'
const imperative = new RegExp(
  String.raw`(?:^|[.:,;]\s|\b(?:you|one|must|should|can|may|need to|have to|please|first|simply|then)\s)["“*_\x60]*(?:${verbs})\b|\bby \p{L}+ing\b|\b(?:allows?|lets?|enables?) (?:you|us|one|users?)\b|\b(?:is|are) \p{L}+(?:ed|en) (?:by|in|with|at|via|through|using|from)\b`,
  'imu',
)
/** An instruction, at the beginning of a text or after where: `In the menu, click …`. */
export const instruction = new RegExp(
  String.raw`^(?:(?:in|on|at|under|from|to|then)\b[^,.]{0,60},\s)?["“*_\x60]*(?:${verbs})\b`,
  'i',
)
const code = /`[^`]*[\s(=/.-][^`]*`|[a-z]\(|\s--?[a-z]/i
/** What cannot be done is no way to do it. */
const impossible = /\b(?:cannot|can['’]t|(?:is|are) not)\b/i

/**
 * Whether a text has what a kind of question asks for. What the question says itself does not count: the 2.0 of `When was 2.0
 * released?` is no date.
 * @param text Markdown. @param asked the question.
 */
export function hasShapeOf(kind: Kind, text: string, asked: string): boolean {
  switch (kind) {
    case 'who':
      return !instruction.test(text) && (hasNewName(text, asked) || addsMatch(role, text, asked))
    case 'when':
      return hasNewDate(text, asked) || (!asksForDate.test(asked) && condition.test(text))
    case 'duration':
      return addsMatch(lengthOfTime, text, asked) || saysHowOftenOrLong(text, asked)
    case 'quantity':
      return hasQuantity(text, asked)
    case 'way':
      return (code.test(text) || imperative.test(text)) && !impossible.test(text)
    case 'place':
      return place.test(text)
    case 'reason':
      return reason.test(text)
    case 'choice':
      return !asksForNumber.test(asked) || addsMatch(quantity, text, asked)
    case 'yes or no':
    case 'definition':
    case 'other':
      return true
  }
}

const asksForDate = /\bwhen (?:was|were|did|will)\b|\b(?:what|which) (?:date|day|month|year|time)\b|\bversion\b/i
const asksForVersion = /\b(?:what|which) version\b|\bwhen .*\b(?:add|introduc|deprecat|remov|chang|drop|support)\w*/i
const asksForNumber = /\b(?:which|what) (?:\p{L}+ )?(?:ports?|version|number)\b/iu

/** After `how much`: a number alone is none of anything. */
const measured = new RegExp(
  String.raw`(?:${number}|\b(?:${numberWord})\b)\s*(?:%|percent|[kmgt]i?b\b|(?:kilo|mega|giga|tera)?bytes?\b|[€$£]|euros?\b|dollars?\b|USD|EUR|${timeUnit}\b)|[€$£]\s?\d|\b(?:unlimited|half|none|free|nothing)\b`,
  'iu',
)

/** Whether a text has a date that the question has not, or the version that it asks for. */
export function hasNewDate(text: string, asked: string): boolean {
  return addsMatch(asksForVersion.test(asked) ? version : date, text, asked)
}

/** The names that a text has: of several words, the last tells, so `Since Hugo` is no other than `Hugo`. */
export function properNamesIn(text: string): string[] {
  return [...text.matchAll(name)].map(([found]) => found.split(' ').at(-1) ?? '')
}

export function hasNewName(text: string, known: string): boolean {
  return properNamesIn(text).some((found) => isNew(found, known))
}

const asksForSize = /\bhow (?:large|big|small|high|low|wide|deep|heavy|far|old|strong)\b/i
/** A number of something: `1 million rows`. */
const counted = new RegExp(String.raw`(?:${number}|\b(?:${numberWord}))\s+\p{L}{3,}`, 'iu')

function hasQuantity(text: string, asked: string): boolean {
  if (/\bhow much\b/i.test(asked)) return addsMatch(measured, text, asked)
  if (asksForSize.test(asked)) return addsMatch(measured, text, asked) || addsMatch(counted, text, asked)
  return addsMatch(quantity, text, asked)
}

function saysHowOftenOrLong(text: string, asked: string): boolean {
  if (/\bhow many\b/i.test(asked)) return false
  return (/\bhow long\b/i.test(asked) ? lasting : frequency).test(text)
}

function addsMatch(pattern: RegExp, text: string, asked: string): boolean {
  const all = new RegExp(pattern, `${pattern.flags}g`)
  return [...text.matchAll(all)].some(([found]) => isNew(found, asked))
}

function isNew(found: string, asked: string): boolean {
  return !asked.toLowerCase().includes(found.toLowerCase())
}

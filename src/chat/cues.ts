const time =
  /\d|\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?|daily|hourly|weekly|monthly|quarterly|yearly|annually|noon|midnight|nights?|mornings?|once|twice|immediately|always|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?)\b/i
const amount =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozens?|hundreds?|thousands?|half|none|all|free)\b/i
/** A name that does not merely begin its sentence, an address, or a word for somebody. */
const person =
  /(?<=[\p{L}\p{N},)]\s)\p{Lu}\p{Ll}+|@|\b(?:teams?|leads?|managers?|heads?|officers?|owners?|engineers?|commanders?|curators?|administrators?|directors?|support|staff|anyone|everyone|nobody|whoever|person|by)\b/u
const yesOrNo = /\b(?:yes|no|not|never|none|nobody|only|cannot|can't|don't|doesn't|isn't|aren't)\b/i
/** What says what its subject is. */
const definition =
  /^\W*(?:(?:an?|the)\s+)?(?:[^\s.,;:!?]+\s+){1,5}(?:is|are|was|were|means?|refers? to|stands? for|describes?)\s/i
const way = /`|[a-z]\(|\bhttps?:/

/** How a kind of question asks, and what shows in what answers it. */
const cues: readonly [asks: RegExp, shows: RegExp][] = [
  [/\bhow (?:long|often|soon|quickly|fast)\b|\bwhen\b|\bwhat (?:time|date|day)\b/i, time],
  [/\bhow (?:many|much)\b|\bwhat (?:percentage|share|amount|number)\b/i, amount],
  [/\bwho(?:m|se)?\b/i, person],
  [/\bwhat(?:['’]s| is| are| was| were) (?:an? |the )?\S+(?: \S+)?\s*\??\s*$/i, definition],
  [/^\W*(?:is|are|was|were|do|does|did|can|could|may|must|should|will|has|have)\b/i, yesOrNo],
  [/\bhow (?:do|does|can|should|to|would|must)\b|\bcommand\b/i, way],
]

/** What a sentence that answers an English question is likely to show, by the first interrogative in it. */
export function cueOf(question: string): RegExp | undefined {
  const found = cues.map(([asks, shows]) => ({ at: question.search(asks), shows })).filter(({ at }) => at >= 0)
  return found.toSorted((a, b) => a.at - b.at)[0]?.shows
}

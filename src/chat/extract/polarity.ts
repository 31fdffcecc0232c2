/** English words that deny. */
const denials =
  'not|cannot|never|neither|nor|no|none|nobody|no longer|without|except|exclud(?:e|es|ed|ing)|deprecated|obsolete|discontinued|removed|forbidden|prohibited|disallowed|rejected|impossible|invisible|hidden|un(?:supported|available|paid|able|taxed|limited)'
const denial = new RegExp(String.raw`\b(?:${denials})\b|n['’]t\b`, 'i')
/** Words that deny, or say when something holds. */
const limit = new RegExp(String.raw`\b(?:${denials}|only|unless|must|at (?:least|most)|up to|until)\b|n['’]t\b`, 'i')

/** Whether a text says that something is not so. */
export function denies(text: string): boolean {
  return denial.test(text)
}

/** Whether a text says that something is not so, or not always. */
export function limits(text: string): boolean {
  return limit.test(text)
}

/** A number that is none of a name or a time: not the 1 of `SEV1`. */
const digits = String.raw`(?<![\p{L}\d_.:#-])\d[\d.,]*(?!\d*:\d)`
const words =
  'two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty|ninety|dozens?|hundreds?|thousands?|millions?|half|unlimited'
const unit = String.raw`(?:[kmgt]i?b|(?:kilo|mega|giga|tera)?bytes?|ms|px)\b|%|[€$£]`
/** A number of things: no part of `10th` or `37signals`, and no share. */
const many = String.raw`(?:${digits}(?![\p{L}\d%])|\b(?:${words})\b)`
const much = String.raw`(?:${digits}(?:\s?(?:${unit})|(?![\p{L}\d]))|\b(?:${words})\b)`
/** One thing, or none, goes by the singular, with a word between at most: `one paid day`. */
const single = String.raw`(?:(?<![\p{L}\d_.-])[01](?![\p{L}\d.%])|\b(?:one|single|no|none)\b)`
/** Up to five words between a number and what it counts, within a sentence: `20 fully paid days`. In time linear in the text. */
const between = String.raw`(?:[\s-]+[^\s.;:-]+){0,5}?[\s-]+["*_(]*`
const amountOf = /\b(?:number|count|amount|total|maximum|minimum|limit) (?:of|for)\b|\blimit/i
/** A number that counts nothing which is named after it, and so may count what a heading names: `Default: 70.` A year does not. */
const bare = new RegExp(
  String.raw`(?!\b(?:19|20)\d\d\b)${digits}\s?(?:${unit}|(?![\p{L}\d.,]|[\s*_\x60-]*\p{L}{3,}))`,
  'iu',
)

/**
 * Whether a text says how many or how much there is of a thing; one that does not name the thing needs a number that counts
 * nothing else.
 * @param thing the noun as it was asked for, `vacation days` or `kinds of lifts`; empty where none was.
 */
export function counts(thing: string, text: string): boolean {
  if (amountOf.test(text)) return true
  return thing.split(' of ').some((part) => countsNoun(/\p{L}+$/u.exec(part.toLowerCase())?.[0] ?? '', text))
}

function countsNoun(noun: string, text: string): boolean {
  if (noun === '') return true
  const stem = noun.replace(/(?:ies|es|s|y)$/, '')
  if (!new RegExp(String.raw`\b${stem}`, 'iu').test(text)) return bare.test(text)
  const isPlural = noun.endsWith('s')
  // `login attempts` are `logins`, too.
  const named = isPlural ? String.raw`\b${stem}(?:\p{L}{0,2}s\b|\p{L}{0,3}\s\p{L}{3,}s\b)` : String.raw`\b${stem}`
  const number = isPlural ? many : much
  const said = [
    `${number}${between}${named}`,
    String.raw`${named}[*_\x60"]*(?:[:=]|\s\(|\s(?:is|are)\s)[\s*_\x60"]*(?:\p{L}+\s)?${number}`,
    String.raw`${single}(?:[\s*_-]+\p{L}+)?[\s*_-]+${stem}`,
  ]
  return said.some((pattern) => new RegExp(pattern, 'iu').test(text))
}

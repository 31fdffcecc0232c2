/**
 * What forges act on wherever it stands in a text or a commit message, also in code, which a squash makes a commit message of, fences and
 * all: references to issues and merge requests (`#1`, `!1`, `GH-1`, addresses), which close them after `Fixes`; mentions; orders to skip
 * CI; quick actions; and characters of these as entities. Each with what stands in the place of its sign: a sign of the same length that people read alike, and forges do not.
 */
const active: readonly (readonly [pattern: RegExp, inert: string])[] = [
  [/&(?=#(?:0*(?:33|35|64)|x0*(?:21|23|40));|(?:commat|excl|num);)/gi, '＆'],
  // An entity that is none of those stays.
  [/(?<!&(?=#\d{1,7};))#(?=\d)/g, '＃'],
  [/(?<!\w)@(?=\w)/g, '＠'],
  [/!(?=\d)/g, '！'],
  [/(?<=\bGH)-(?=\d)/gi, '‐'],
  [/(?<=\/(?:issues|pulls?|merge_requests|work_items))\/(?=\d)/gi, '／'],
  [/\[(?=(?:skip|no)[ _-](?:ci|actions)\]|(?:ci|actions)[ _-]skip\])/gi, '［'],
  [/(?<=^[^\S\n]*)\/(?=\w)/gm, '／'],
]

/** Text, or a commit message, in which nothing that others wrote makes a forge do anything. */
export function inert(text: string): string {
  return active.reduce((done, [pattern, sign]) => done.replace(pattern, sign), text)
}

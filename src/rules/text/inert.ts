/**
 * Patterns that trigger an action on a forge, each with a replacement that looks alike and that forges ignore: references to issues and
 * merge requests (`#1`, `!1`, `GH-1`, URLs), which `Fixes` closes; mentions; CI skip markers; quick actions; and entities for these
 * characters. They count in code too, since a squash turns the text into a commit message. A replacement has the same length.
 */
const active: readonly (readonly [pattern: RegExp, inert: string])[] = [
  [/&(?=#(?:0*(?:33|35|64)|x0*(?:21|23|40));|(?:commat|excl|num);)/gi, '＆'],
  // Leaves numeric entities of other characters unchanged.
  [/(?<!&(?=#\d{1,7};))#(?=\d)/g, '＃'],
  [/(?<!\w)@(?=\w)/g, '＠'],
  [/!(?=\d)/g, '！'],
  [/(?<=\bGH)-(?=\d)/gi, '‐'],
  [/(?<=\/(?:issues|pulls?|merge_requests|work_items))\/(?=\d)/gi, '／'],
  [/\[(?=(?:skip|no)[ _-](?:ci|actions)\]|(?:ci|actions)[ _-]skip\])/gi, '［'],
  [/(?<=^[^\S\n]*)\/(?=\w)/gm, '／'],
]

/** Returns a text or commit message in which nothing written by others triggers an action on a forge. */
export function inert(text: string): string {
  return active.reduce((done, [pattern, sign]) => done.replace(pattern, sign), text)
}

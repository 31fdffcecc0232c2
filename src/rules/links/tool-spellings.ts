/** Matches the prefix of a Dendron link that names a vault of its workspace. The note's name follows. */
const dendronVault = /^dendron:\/\/[^/]+\//i
/** Encodings that Logseq uses in file names for characters that a file system refuses. */
const spelledSigns: readonly [RegExp, (spelled: string) => string][] = [
  [/___/g, () => '/'],
  [/(?:%[0-9a-f]{2})+/gi, decoded],
]
const months = 'January February March April May June July August September October November December'.split(' ')

/** Returns a link's target without Dendron's vault prefix. */
export function withoutVault(target: string): string {
  return target.replace(dendronVault, '')
}

/** Returns the page name that a file name encodes: `a/b` for Logseq's `a___b` and `a%2Fb`, else the file name itself. */
export function meantName(file: string): string {
  return spelledSigns.reduce((name, [spelled, sign]) => name.replace(spelled, sign), file)
}

/** Returns the names under which Logseq and Roam link to the journal of a day: `Jan 2nd, 2024` and `January 2nd, 2024` for `2024_01_02`. */
export function journalNames(file: string): string[] {
  const [, year, number, date] = /^([0-9]{4})[-_]([0-9]{2})[-_]([0-9]{2})$/.exec(file) ?? []
  const [month, day] = [months[Number(number) - 1], Number(date)]
  if (month === undefined) return []
  const ending = Math.trunc(day / 10) === 1 ? 'th' : (['th', 'st', 'nd', 'rd'][day % 10] ?? 'th')
  return [...new Set([month.slice(0, 3), month])].map((name) => `${name} ${day}${ending}, ${year}`)
}

function decoded(spelled: string): string {
  try {
    const signs = decodeURIComponent(spelled)
    return /\p{Cc}/u.test(signs) ? spelled : signs
  } catch {
    return spelled
  }
}

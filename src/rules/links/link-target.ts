import { ascii, fold } from '../text/fold.ts'
import { journalNames, meantName, withoutVault } from './tool-spellings.ts'
import type { LinkForm } from './written-link.ts'

/**
 * Kinds of names of a Neuron, in order of precedence. `stamp`: the timestamp at the start of a note's file name, or the date that is a
 * journal's file name. `section`: an end of the path of the folder whose page the Neuron is.
 */
export const nameKinds = ['seqId', 'path', 'file', 'folder', 'title', 'alias', 'stamp', 'section'] as const
export type NameKind = (typeof nameKinds)[number]

/** True if people know a page by names of this kind. */
export function isKnownBy(kind: NameKind): boolean {
  return kind === 'title' || kind === 'alias' || kind === 'file'
}

/** Name of a Neuron: the folded key for look-ups, and the exact spelling. */
export type NeuronName = { key: string; exact: string; kind: NameKind }

/** Claim of a Neuron to a name. `since`: an ascending number. `yields`: true if it yields to Neurons that had the name before. */
export type NameClaim = { since: number; yields: boolean }

/** Neuron with a name of some key. `path`: its file. Without a claim the name is new and yields to nobody. */
export type NamedNeuron = { seqId: string; kind: NameKind; exact: string; path: string; claim?: NameClaim | undefined }

type Claimant = Pick<NamedNeuron, 'seqId' | 'claim'>

export type Resolution = { seqId: string } | { missing: true } | { ambiguous: string[] }

/** Target and form of a link, and the path of the page that contains it. */
export type LinkAddress = { target: string; form: LinkForm; from: string }

/** Way to read a link: as paths, as names, or as both. */
type Reading = {
  /** Paths from the root of the repository, for a relative link. The first that exists wins. */
  places: string[]
  /** Spellings of a name. */
  names: string[]
  /** Kinds of names that match. */
  kinds: readonly NameKind[]
}

/** File names of a folder's page, in order of precedence. */
const folderPages = ['index', 'readme', '_index']

/** Scripts in which a joiner or non-joiner between letters changes the word or the letter. */
const joined = [
  ...['Arabic', 'Syriac', 'Mongolian', 'Nko', 'Mandaic', 'Adlam', 'Hanifi_Rohingya'],
  ...['Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala'],
  ...['Myanmar', 'Khmer', 'Balinese', 'Javanese'],
]
const letter = `[[\\p{L}\\p{M}]&&[${joined.map((script) => `\\p{scx=${script}}`).join('')}]]`
const flagTag = '[\\u{e0020}-\\u{e007f}]'
/**
 * Matches invisible characters: direction marks, zero-width spaces, selectors. The group has those that carry meaning (UAX #31, 2.3, and
 * UTS #51): joiners that shape letters or join emoji, and the tags of a flag.
 */
const ignorable = new RegExp(
  `((?<=${letter})(?:\\u200d|\\u200c(?=${letter}))|(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})|(?<=\\u{1f3f4}${flagTag}{0,7})${flagTag})|\\p{Default_Ignorable_Code_Point}`,
  'gv',
)

/**
 * Returns the key under which spellings of a name meet: without case, diacritics and invisible characters, with spaces, underscores and
 * hyphens equal. A folder has the key of the page in its place, since sites serve both at one address.
 */
export function linkKey(text: string): string {
  const folded = fold(text)
  const shown = ascii.test(folded) ? folded : folded.replace(ignorable, '$1').normalize('NFC')
  return shown
    .replace(/[\s_\p{Pd}]+/gu, ' ')
    .trim()
    .replace(/(?<=[^/ ])[ /]*\/$/, '')
}

/** Returns a name as spelled, in one Unicode normalization form and without surrounding space. */
export function exactKey(text: string): string {
  return text.normalize('NFC').trim()
}

/**
 * Returns all names of a Neuron: seqId; path below `neurons/` without `.md`; the ends of that path from `folder/file` to `file` (as file
 * names, so that a full path wins over the end of another); the name that a tool has encoded in the file name; the folder whose index it
 * is; title; aliases; and the timestamp in `202401021530 On notes.md`.
 */
export function namesOf(neuron: {
  seqId: string
  path: string
  title?: string | undefined
  aliases: readonly string[]
}): NeuronName[] {
  const path = barePath(neuron.path)
  const segments = path.split('/')
  const file = segments.at(-1) ?? ''
  const folder = folderOfPage(neuron.path) ?? ''
  const sections = folder.split('/').slice(1, -1)
  const names: [NameKind, string][] = [
    ['seqId', neuron.seqId],
    ['path', path],
    ...segments.map((_, start): [NameKind, string] => ['file', segments.slice(start).join('/')]),
    ['file', meantName(file) === file ? '' : meantName(file)],
    ['folder', folder],
    ['title', neuron.title ?? ''],
    ...neuron.aliases.map((alias): [NameKind, string] => ['alias', alias]),
    ['stamp', /^(?:[0-9]{12}|[0-9]{14})(?=[\s_-])/.exec(file)?.[0] ?? ''],
    ...journalNames(file).map((name): [NameKind, string] => ['stamp', name]),
    ...sections.map((_, start): [NameKind, string] => ['section', `${sections.slice(start).join('/')}/`]),
  ]
  return names
    .map(([kind, name]) => ({ key: linkKey(name), exact: exactKey(name), kind }))
    .filter(({ key }) => key !== '')
}

/** Returns the names of a Neuron, each with the entry that a look-up returns. */
export function namedNeurons(neuron: Parameters<typeof namesOf>[0]): (NeuronName & NamedNeuron)[] {
  const { seqId, path } = neuron
  return namesOf(neuron).map((name) => ({ ...name, seqId, path }))
}

/** Returns the claim that a Neuron already has to a name, as the same kind of name or one of higher precedence. */
export function keptClaim(
  before: readonly (NeuronName & { claim: NameClaim })[],
  { exact, kind }: Pick<NeuronName, 'exact' | 'kind'>,
): NameClaim | undefined {
  const rank = nameKinds.indexOf(kind)
  return before.find((name) => name.exact === exact && nameKinds.indexOf(name.kind) <= rank)?.claim
}

/** True if a target names a folder, as `guide/`, `.` and `../` do. */
export function isFolder(target: string): boolean {
  return /(?:^|\/)\.{0,2}$/.test(target.trim())
}

/** Returns the folder whose index a page is: `guide/`, or `/` for the outermost. Returns `undefined` for any other page. */
export function folderOfPage(path: string): string | undefined {
  return folderRank(path) < 0 ? undefined : nameAt(folderPath(path))
}

function folderRank(path: string): number {
  return folderPages.indexOf(barePath(path.slice(folderPath(path).length)).toLowerCase())
}

/** Returns the name of a path; `/` for the outermost folder. */
function nameAt(place: string): string {
  return barePath(place) || '/'
}

/** Returns the path below `neurons/`, without `.md`, that a relative link names. Undefined for a link by name. */
export function placeOf(link: LinkAddress): string | undefined {
  const place = readAddress(link).places.find((path) => path.startsWith('neurons/'))
  return place && nameAt(place)
}

/** Returns the keys under which the linked Neuron is found: two if the link can be read in two ways. */
export function targetKeys(link: LinkAddress): { key: string; bareKey?: string } {
  const { places, names } = readAddress(link)
  const keys = [...places.map(nameAt), ...names].map(linkKey)
  const [key = linkKey(link.target), bareKey] = [...new Set(keys)]
  return bareKey === undefined ? { key } : { key, bareKey }
}

/** Returns the keys of a file that is not a Neuron, such as an image: its path and every end of it. */
export function fileKeys(path: string): string[] {
  const names = path.split('/')
  return names.map((_, start) => linkKey(names.slice(start).join('/')))
}

/**
 * Resolves a link to a Neuron. `lookup` returns every Neuron with a name of that key. A relative path means the file there, or the index of
 * that folder; with a trailing slash the index wins. A Markdown link to a missing file means a file of that name elsewhere, unless it
 * begins with a dot. Any other link is a name: exact spellings win over folded ones, then the kind of name decides. A name that yields is
 * ignored where another Neuron had it before. Of several files with one name the one in the page's own folder wins, then the one with the
 * shortest path, as in Obsidian. Anything still undecided is ambiguous, with the sorted seqIds.
 */
export function resolveTarget(link: LinkAddress, lookup: (key: string) => readonly NamedNeuron[]): Resolution {
  const { places, names, kinds } = readAddress(link)
  for (const place of places) {
    if (!place.startsWith('neurons/')) continue
    const found = bestOf(
      levelsOf([nameAt(place)], lookup, { kinds: ['path', 'folder', 'alias'], levels: slashed }),
      link.from,
    )
    if (found !== undefined) return found
  }
  const levels = names.at(-1)?.includes('/') ? slashed : bare
  return bestOf(levelsOf(names, lookup, { kinds, levels }), link.from) ?? { missing: true }
}

type Answer = NamedNeuron & { isSpelled: boolean }
type Asked = { kinds: readonly NameKind[]; levels: readonly (readonly NameKind[])[] }
/** Neuron that a name means at one level of precedence: `beside` for pages in the folder of such a file, `elsewhere` for all others. */
type Level = { beside: ReadonlyMap<string, Resolution>; elsewhere: Resolution | undefined }

const slashed: Asked['levels'] = [['seqId'], ['path'], ['file'], ['folder'], ['title'], ['alias'], ['section']]
/** Kinds of names by precedence for a link without a folder. Such a link matches a file in any folder, even the outermost. */
const bare: Asked['levels'] = [['seqId'], ['path', 'file'], ['title'], ['alias'], ['stamp'], ['section']]
const wikiKinds = nameKinds.filter((kind) => kind !== 'section')
/** Minimum number of Neurons with one name for which their order is cached: thousands of pages may link to their own `README`. */
const many = 50
const ordered = new WeakMap<readonly NamedNeuron[], Map<string, Level[]>>()

/** Resolves links by names. @param lookup its results must not be modified afterwards */
function levelsOf(
  names: readonly string[],
  lookup: (key: string) => readonly NamedNeuron[],
  asked: Asked,
): Iterable<Level> {
  const [name = '', ...others] = names
  const key = linkKey(name)
  const named = others.length > 0 || key === '' ? [] : lookup(key)
  if (named.length < many)
    return orderedLevels(
      names.flatMap((each) => answers(each, lookup, asked.kinds)),
      asked.levels,
    )
  const known = ordered.get(named) ?? new Map<string, Level[]>()
  ordered.set(named, known)
  const question = JSON.stringify([name, asked])
  const levels = known.get(question) ?? [...orderedLevels(answers(name, lookup, asked.kinds), asked.levels)]
  known.set(question, levels)
  return levels
}

function answers(name: string, lookup: (key: string) => readonly NamedNeuron[], kinds: readonly NameKind[]): Answer[] {
  const key = linkKey(name)
  if (key === '') return []
  const exact = exactKey(name)
  const named = lookup(key).filter(({ kind }) => kinds.includes(kind))
  return named.map((neuron) => ({ ...neuron, isSpelled: neuron.exact === exact }))
}

function bestOf(levels: Iterable<Level>, from: string): Resolution | undefined {
  const folder = barePath(folderPath(from))
  for (const { beside, elsewhere } of levels) {
    const found = beside.get(folder) ?? elsewhere
    if (found !== undefined) return found
  }
  return undefined
}

function* orderedLevels(all: readonly Answer[], levels: Asked['levels']): Generator<Level> {
  const named = claimed(all)
  for (const spelled of [named.filter(({ isSpelled }) => isSpelled), named]) {
    for (const kinds of levels) {
      const found = spelled.filter(({ kind }) => kinds.includes(kind))
      if (kinds.includes('file')) yield { beside: besides(found), elsewhere: onlyOf(shortestOf(found)) }
      else
        yield {
          beside: new Map(),
          elsewhere: onlyOf(kinds.some((kind) => kind === 'folder' || kind === 'section') ? indexOf(found) : found),
        }
    }
  }
}

function onlyOf(named: readonly Answer[]): Resolution | undefined {
  const seqIds = [...new Set(named.map(({ seqId }) => seqId))].sort()
  const [seqId] = seqIds
  if (seqId === undefined) return undefined
  return seqIds.length === 1 ? { seqId } : { ambiguous: seqIds }
}

/** Returns the meaning of a name for pages in each folder that has a file of that name. */
function besides(named: readonly Answer[]): Map<string, Resolution> {
  const folders = Map.groupBy(named, ({ path, exact }) => {
    const file = barePath(path)
    return file.endsWith(exact) && barePath(exact) === exact ? file.slice(0, file.length - exact.length) : undefined
  })
  return new Map(
    [...folders].flatMap(([folder, files]) => {
      const found = folder === undefined ? undefined : onlyOf(files)
      return folder === undefined || found === undefined ? [] : [[folder, found] as const]
    }),
  )
}

/** Removes the Neurons that yield the name to another Neuron. */
function claimed(named: readonly Answer[]): readonly Answer[] {
  if (!named.some(({ claim }) => claim?.yields)) return named
  const [first, ...later] = named.toSorted((a, b) => Number(wasBefore(b, a)) - Number(wasBefore(a, b)))
  const second = later.find(({ seqId }) => seqId !== first?.seqId)
  return named.filter((name) => {
    const other = first?.seqId === name.seqId ? second : first
    return other === undefined || !doesYield(name, other)
  })
}

/** True if a name does not lead to its Neuron, since another had it before. A seqId never yields. */
export function doesYield({ kind, ...name }: Claimant & { kind: NameKind }, other: Claimant): boolean {
  return name.claim?.yields === true && kind !== 'seqId' && other.seqId !== name.seqId && wasBefore(other, name)
}

/** True if one Neuron had a name before another. */
export function wasBefore(a: Claimant, b: Claimant): boolean {
  const [one, other] = [a, b].map(({ claim }) => claim?.since ?? Number.POSITIVE_INFINITY)
  return one === other ? a.seqId < b.seqId : Number(one) < Number(other)
}

function shortestOf(named: readonly Answer[]): readonly Answer[] {
  const shortest = Math.min(...named.map(({ path }) => path.length))
  return named.filter(({ path }) => path.length === shortest)
}

/** Returns the pages of highest precedence among the pages of one folder. */
function indexOf(named: readonly Answer[]): readonly Answer[] {
  const first = Math.min(...named.map(({ path }) => folderRank(path)))
  return named.filter(({ path }) => folderRank(path) === first)
}

function readAddress({ target, form, from }: LinkAddress): Reading {
  const written = withoutVault(target.trim())
  const isRelative = /^\.{1,2}(?:\/|$)/.test(written)
  if (form === 'markdown' || isRelative) {
    const isToFolder = isFolder(written)
    const path = form === 'markdown' ? written.replace(/\.html?$/i, '') : written
    // A site serves `a/b.md` as `a/b/`, from where `../c/` is `a/c/`.
    const isOnSite = form === 'markdown' && isRelative && /[^./]\/$/.test(written)
    const bases = [folderPath(from), ...(isOnSite ? [`${from.replace(/\.[^./]*$/, '')}/`] : [])]
    const places = bases
      .flatMap((base) => joinPath(base, path) ?? [])
      .map((place) => (isToFolder ? `${place}/` : place))
    if (form !== 'markdown') return { places, names: [written], kinds: ['title', 'alias'] }
    if (isRelative) return { places, names: [], kinds: [] }
    const isName = !isToFolder || written.startsWith('/')
    const kinds: NameKind[] = isName ? ['path', 'file', 'folder', 'alias'] : ['folder', 'alias']
    return { places, names: [barePath(written)], kinds: written.startsWith('/') ? [...kinds, 'section'] : kinds }
  }
  const path = barePath(written.replace(/#+$/, ''))
  return { places: [], names: path === written ? [written] : [written, path], kinds: wikiKinds }
}

/** Returns the folder of a path with its trailing slash, or the empty text. */
export function folderPath(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}

/**
 * Joins a folder and a path to a path from the root of the repository. Returns `undefined` outside of it. A leading `/` means `neurons/`.
 */
function joinPath(folder: string, path: string): string | undefined {
  const segments = path.startsWith('/') ? ['neurons'] : folder.split('/').filter((name) => name !== '')
  for (const name of path.replace(/^\/neurons\//, '/').split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') segments.push(name)
    else if (segments.pop() === undefined) return undefined
  }
  return segments.join('/')
}

/** Returns the path below `neurons/`, without `.md`, of a path or a target. */
export function barePath(path: string): string {
  return path
    .trim()
    .replace(/^\.?\//, '')
    .replace(/^neurons\//, '')
    .replace(/\.(?:md|markdown)$/i, '')
}

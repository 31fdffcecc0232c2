import { ascii, fold } from '../text/fold.ts'
import { journalNames, meantName, withoutVault } from './tool-spellings.ts'
import type { LinkForm } from './written-link.ts'

/**
 * Kinds of names that a Neuron answers to, in the order in which they win. `stamp` is the time of a note that its file's name begins
 * with, or the date that a journal's file has for a name. `section` is an end of the path of the folder that it is the page of.
 */
export const nameKinds = ['seqId', 'path', 'file', 'folder', 'title', 'alias', 'stamp', 'section'] as const
export type NameKind = (typeof nameKinds)[number]

/** Whether people know a page by a name of this kind. */
export function isKnownBy(kind: NameKind): boolean {
  return kind === 'title' || kind === 'alias' || kind === 'file'
}

/** One name of a Neuron: the folded key to look it up by, and its exact spelling. */
export type NeuronName = { key: string; exact: string; kind: NameKind }

/** Since when a Neuron has a name, as a number that grows; and whether it yields to those that had the name before. */
export type NameClaim = { since: number; yields: boolean }

/** A Neuron that answers to a key; `path` is that of its file. No claim: the name is new, and yields to nobody. */
export type NamedNeuron = { seqId: string; kind: NameKind; exact: string; path: string; claim?: NameClaim | undefined }

type Claimant = Pick<NamedNeuron, 'seqId' | 'claim'>

export type Resolution = { seqId: string } | { missing: true } | { ambiguous: string[] }

/** What a link says of where it leads, and the path of the page that holds it. */
export type LinkAddress = { target: string; form: LinkForm; from: string }

/** Where a link can lead: a place in the repository, names, or both. */
type Reading = {
  /** Paths from the root of the repository, as a relative link has them: the one that is there is meant, the first before others. */
  places: string[]
  /** Spellings of a name. */
  names: string[]
  /** Which kinds of names count. */
  kinds: readonly NameKind[]
}

/** The pages that a folder means, in the order in which they win. */
const folderPages = ['index', 'readme', '_index']

/** Scripts in which a joiner or non-joiner between letters makes another word, or another letter. */
const joined = [
  ...['Arabic', 'Syriac', 'Mongolian', 'Nko', 'Mandaic', 'Adlam', 'Hanifi_Rohingya'],
  ...['Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala'],
  ...['Myanmar', 'Khmer', 'Balinese', 'Javanese'],
]
const letter = `[[\\p{L}\\p{M}]&&[${joined.map((script) => `\\p{scx=${script}}`).join('')}]]`
const flagTag = '[\\u{e0020}-\\u{e007f}]'
/**
 * What shows nothing: direction marks, zero-width spaces, selectors. Captured is what does mean something (UAX #31, 2.3, and UTS #51):
 * joiners that shape letters or join emoji, and the tags of a flag.
 */
const ignorable = new RegExp(
  `((?<=${letter})(?:\\u200d|\\u200c(?=${letter}))|(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})|(?<=\\u{1f3f4}${flagTag}{0,7})${flagTag})|\\p{Default_Ignorable_Code_Point}`,
  'gv',
)

/**
 * The key under which spellings of a name meet: no case, no diacritics, nothing that is not seen, and spaces, underscores and hyphens
 * are one. A folder has the key of a page in its place, since sites serve both under one address.
 */
export function linkKey(text: string): string {
  const folded = fold(text)
  const shown = ascii.test(folded) ? folded : folded.replace(ignorable, '$1').normalize('NFC')
  return shown
    .replace(/[\s_\p{Pd}]+/gu, ' ')
    .trim()
    .replace(/(?<=[^/])\/+$/, '')
}

/** A name as spelled, whatever its Unicode normalisation and the space around it. */
export function exactKey(text: string): string {
  return text.normalize('NFC').trim()
}

/**
 * All names under which a Neuron answers: its seqId, its path below `neurons/` without `.md`, the ends of that path from
 * `folder/file` down to `file` (as file names, so that a full path wins over another's end), the name that a tool has spelled
 * otherwise in the file's, the folder that it is the page of, its title, its aliases, and the stamp in `202401021530 On notes.md`.
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

/** The names of a Neuron, each with what a look-up of it gives. */
export function namedNeurons(neuron: Parameters<typeof namesOf>[0]): (NeuronName & NamedNeuron)[] {
  const { seqId, path } = neuron
  return namesOf(neuron).map((name) => ({ ...name, seqId, path }))
}

/** The claim that a Neuron has to a name already: it had it as the same kind of name, or as one that wins over that. */
export function keptClaim(
  before: readonly (NeuronName & { claim: NameClaim })[],
  { exact, kind }: Pick<NeuronName, 'exact' | 'kind'>,
): NameClaim | undefined {
  const rank = nameKinds.indexOf(kind)
  return before.find((name) => name.exact === exact && nameKinds.indexOf(name.kind) <= rank)?.claim
}

/** Whether a target names a folder, as `guide/`, `.` and `../` do. */
export function isFolder(target: string): boolean {
  return /(?:^|\/)\.{0,2}$/.test(target.trim())
}

/** The folder that a page answers to, as its index: `guide/`, `/` for the outermost; `undefined` for another page. */
export function folderOfPage(path: string): string | undefined {
  return folderRank(path) < 0 ? undefined : nameAt(folderOf(path))
}

function folderRank(path: string): number {
  return folderPages.indexOf(barePath(path.slice(folderOf(path).length)).toLowerCase())
}

/** The name that a path has; `/` for the outermost folder. */
function nameAt(place: string): string {
  return barePath(place) || '/'
}

/** The path below `neurons/` that a relative link names, without `.md`; nothing for a link that names no place. */
export function placeOf(link: LinkAddress): string | undefined {
  const place = readAddress(link).places.find((path) => path.startsWith('neurons/'))
  return place && nameAt(place)
}

/** The keys under which the Neuron that a link means answers: one, or two where it can be read in two ways. */
export function targetKeys(link: LinkAddress): { key: string; bareKey?: string } {
  const { places, names } = readAddress(link)
  const keys = [...places.map(nameAt), ...names].map(linkKey)
  const [key = linkKey(link.target), bareKey] = [...new Set(keys)]
  return bareKey === undefined ? { key } : { key, bareKey }
}

/** The keys under which a file that is no Neuron answers, as an image does: its path and every end of it. */
export function fileKeys(path: string): string[] {
  const names = path.split('/')
  return names.map((_, start) => linkKey(names.slice(start).join('/')))
}

/**
 * The Neuron that a link means. `lookup` gives every Neuron with a name of that key.
 *
 * A link that is written as a relative path means the file at that path, or the index of that folder; with a slash behind it, the
 * index first. A Markdown link to a file that is not there means one of that name elsewhere, unless it begins with a dot. Any other
 * link means a name: exact spellings win over folded ones, then the kind of name decides. A name that yields counts for nothing where
 * another Neuron had it before. Of several files with one name the one in the page's own folder wins, then the one with the shortest
 * path, as in Obsidian. What is still undecided is ambiguous (the seqIds, sorted).
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
/** What a name means on one level: to a page of a folder that has a file of that name, by the folder, and to all others. */
type Level = { beside: ReadonlyMap<string, Resolution>; elsewhere: Resolution | undefined }

const slashed: Asked['levels'] = [['seqId'], ['path'], ['file'], ['folder'], ['title'], ['alias'], ['section']]
/** A bare name means a file in any folder, the outermost one included. */
const bare: Asked['levels'] = [['seqId'], ['path', 'file'], ['title'], ['alias'], ['stamp'], ['section']]
const wikiKinds = nameKinds.filter((kind) => kind !== 'section')
/** Names with so many Neurons are ordered once, and not for each link: thousands of pages may link to their own `README`. */
const many = 50
const ordered = new WeakMap<readonly NamedNeuron[], Map<string, Level[]>>()

/** @param lookup what it gives is not changed afterwards */
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
  const folder = barePath(folderOf(from))
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

/** Those that a name leads to from their own folder. */
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

/** Without those that yield to another Neuron. */
function claimed(named: readonly Answer[]): readonly Answer[] {
  if (!named.some(({ claim }) => claim?.yields)) return named
  const [first, ...later] = named.toSorted((a, b) => Number(wasBefore(b, a)) - Number(wasBefore(a, b)))
  const second = later.find(({ seqId }) => seqId !== first?.seqId)
  return named.filter((name) => {
    const other = first?.seqId === name.seqId ? second : first
    return other === undefined || !doesYield(name, other)
  })
}

/** Whether a name does not lead to its Neuron, since another had it before. A seqId is nobody else's. */
export function doesYield({ kind, ...name }: Claimant & { kind: NameKind }, other: Claimant): boolean {
  return name.claim?.yields === true && kind !== 'seqId' && other.seqId !== name.seqId && wasBefore(other, name)
}

/** Whether one Neuron had a name before another. */
export function wasBefore(a: Claimant, b: Claimant): boolean {
  const [one, other] = [a, b].map(({ claim }) => claim?.since ?? Number.POSITIVE_INFINITY)
  return one === other ? a.seqId < b.seqId : Number(one) < Number(other)
}

function shortestOf(named: readonly Answer[]): readonly Answer[] {
  const shortest = Math.min(...named.map(({ path }) => path.length))
  return named.filter(({ path }) => path.length === shortest)
}

/** Of the pages of one folder, those that win. */
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
    const bases = [folderOf(from), ...(isOnSite ? [`${from.replace(/\.[^./]*$/, '')}/`] : [])]
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

/** With its last slash, or empty. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}

/** A path from the root of the repository; `undefined` where it leads out of it. A path from `/` begins at the Neurons. */
function joinPath(folder: string, path: string): string | undefined {
  const segments = path.startsWith('/') ? ['neurons'] : folder.split('/').filter((name) => name !== '')
  for (const name of path.replace(/^\/neurons\//, '/').split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') segments.push(name)
    else if (segments.pop() === undefined) return undefined
  }
  return segments.join('/')
}

/** The path below `neurons/` without `.md` that a path, or a target, stands for. */
export function barePath(path: string): string {
  return path
    .trim()
    .replace(/^\.?\//, '')
    .replace(/^neurons\//, '')
    .replace(/\.(?:md|markdown)$/i, '')
}

import { defaultFileTypes, fileTypes } from '../../contract/documents.ts'
import { type CandidateKind, candidateKinds, type Zone } from '../../contract/vocabulary.ts'
import type { SettingEdit } from '../../markdown/file/kb-file-edit.ts'
import type { YamlInput } from '../../markdown/yaml/yaml.ts'
import type { OwnerRule } from '../../rules/deciding.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'

type Setting = {
  label: string
  hint?: string | undefined
  /** The control of the form: a line of text, several lines, a box to tick, or one of these choices. */
  control: 'text' | 'lines' | 'flag' | readonly { value: string; label: string }[]
  /** Returns the setting as text for the form. */
  text(settings: KbSettings): string
  /** Parses the text of the form into the value for `kb.yaml`; undefined removes the key. */
  value(text: string): SettingEdit['value']
}

/** File types that a knowledge base accepts only if its settings say so. */
const optionalFileTypes = fileTypes.filter((type) => !defaultFileTypes.some((each) => each === type))

const asText = (text: string) => text
const asTextOrNone = (text: string) => (text === '' ? undefined : text)
/** Writes a number unquoted, as people do. Any other text is refused by the check of the settings. */
const asNumber = (text: string) => (/^(?:[0-9]*\.)?[0-9]+$/.test(text) ? Number(text) : text)
const asNames = (text: string) => partsOf(text, /,/)

const setting = (
  control: Setting['control'],
  ...[label, text, hint, value = asText]: [string, Setting['text'], hint?: string, value?: Setting['value']]
): Setting => ({ label, hint, control, text, value })
const number = (label: string, read: (settings: KbSettings) => number | undefined, hint?: string) =>
  setting('text', label, (settings) => String(read(settings) ?? ''), hint, asNumber)
const names = (label: string, read: (settings: KbSettings) => readonly string[], hint: string) =>
  setting('text', label, (settings) => read(settings).join(', '), hint, asNames)
const flag = (label: string, read: (settings: KbSettings) => boolean | undefined, hint?: string) =>
  setting(
    'flag',
    label,
    (settings) => String(read(settings) ?? false),
    hint,
    (text) => text === 'true',
  )
const lines = (
  label: string,
  read: (settings: KbSettings) => readonly string[],
  hint: string,
  parse: (line: string) => YamlInput,
) =>
  setting(
    'lines',
    label,
    (settings) => read(settings).join('\n'),
    hint,
    (text) => partsOf(text, /\r?\n/).map(parse),
  )

const zoneChoices = [
  { value: '', label: 'none' },
  { value: 'green', label: 'green: approved at once' },
  { value: 'yellow', label: 'yellow: waits for a curator' },
  { value: 'red', label: 'red: waits, with a warning' },
]
const breakChoices = [...zoneChoices.slice(2), { value: 'allow', label: 'allow: is approved' }]
const engineChoices = [
  { value: 'auto', label: 'auto: by size' },
  { value: 'minisearch', label: 'minisearch: in memory' },
  { value: 'segments', label: 'segments: on disk' },
]

/** Settings that the form has, by their path in `kb.yaml`, in the order in which a commit names them. */
const table = {
  title: setting('text', 'Title', ({ title }) => title ?? ''),
  language: setting(
    'text',
    'Language',
    ({ language }) => language,
    'Such as en or pt-BR. It decides how words are compared.',
  ),
  tone: setting('lines', 'Tone', ({ tone }) => tone ?? '', 'How answers in the chat should sound.', asTextOrNone),
  'policy.threshold': number(
    'Threshold',
    ({ policy }) => policy?.threshold,
    'A candidate whose confidence is at or above this, from 0 to 1, is approved.',
  ),
  'policy.singleCurator': flag('There is one curator only', ({ policy }) => policy?.singleCurator),
  'policy.singleCuratorThreshold': number('Threshold with one curator', ({ policy }) => policy?.singleCuratorThreshold),
  'policy.autoApproveConnectors': names(
    'Connectors that are approved',
    ({ policy }) => policy?.autoApproveConnectors ?? [],
    'With commas between. Only keys that may speak as them count.',
  ),
  'zones.connectors': setting(
    'lines',
    'Zones of connectors',
    ({ zones }) => zoneLines(zones?.connectors ?? {}),
    'One on each line, such as “site-chat: yellow”.',
  ),
  owners: lines(
    'Owners',
    ({ deciding }) => (deciding?.owners ?? []).map(({ people, ...rule }) => `${placesOf(rule)} = ${people.join(', ')}`),
    'On each line paths and tags, and those of whom one must approve: “legal, #contracts = legal@example.com, Legal desk”.',
    ownersOf,
  ),
  'approvals.yellow': number(
    'Approvals that the yellow zone needs',
    ({ deciding }) => deciding?.approvals.yellow,
    'What has no zone needs one.',
  ),
  'approvals.red': number(
    'Approvals that the red zone needs',
    ({ deciding }) => deciding?.approvals.red,
    'At least as many as the yellow zone.',
  ),
  'approvals.keepOnMerge': flag(
    'Approvals stay when others change other lines of the page',
    ({ deciding }) => deciding?.approvals.keepOnMerge,
    'Else an approval falls when the page, or who sees it, would be other than what was approved.',
  ),
  authorMayApprove: flag(
    'Who wrote a candidate may approve it',
    ({ deciding }) => deciding?.authorMayApprove,
    'If not, only the connectors named above, and green ones, are approved without a curator, whatever the confidence or kind.',
  ),
  verify: lines(
    'Pages to look at again',
    ({ verify }) => verify.map(({ days, ...rule }) => `${placesOf(rule)} = ${days}`),
    'On each line paths and tags, and after how many days: “handbook, #prices = 180”.',
    verifyOf,
  ),
  'tests.onBreak': setting(breakChoices, 'What breaks an answer test', ({ onBreak }) => onBreak),
  defaultAudience: names(
    'Default audience',
    ({ defaultAudience }) => defaultAudience,
    'Of pages that list none: tool, public, student, with commas between. Empty: curators only.',
  ),
  inlineTags: flag(
    'Tags in the text count',
    ({ inlineTags }) => inlineTags,
    '#internal in a text then hides the page from all but curators.',
  ),
  'publish.keys': names(
    'Front matter that readers see',
    ({ publishedKeys }) => publishedKeys,
    'Keys of your own, with commas between, such as “status, aliases”. Readers, their clones and public mirrors get no others.',
  ),
  'lint.schedule': setting(
    'text',
    'Look for broken links',
    ({ lintSchedule }) => lintSchedule ?? '',
    'As in a crontab, in UTC, such as “0 4 * * *”. Empty: never.',
    (text) => text || 'never',
  ),
  protectMain: flag('Main takes no push', ({ protectMain }) => protectMain, 'Every change by git is then proposed.'),
  'sources.types': setting(
    'text',
    'Further file types for Sources',
    ({ sourceTypes }) => furtherTypes(sourceTypes),
    'With commas between, such as “eml, tsv”; or all.',
    (text) => (text === 'all' ? text : asNames(text)),
  ),
  'sources.ocr': names(
    'Languages of pictures and scans',
    ({ ocrLanguages }) => ocrLanguages,
    'Up to five of Tesseract’s codes, with commas between, such as “deu, fra, eng”. Each but eng is a package on the server. Empty: English.',
  ),
  'rename.rewriteLinks': flag(
    'Rewrite links when a page is renamed',
    ({ rewriteLinks }) => rewriteLinks,
    'Else its old name stays as an alias.',
  ),
  'search.engine': setting(engineChoices, 'Search engine', ({ searchEngine }) => searchEngine),
  'search.synonyms': lines(
    'Synonyms',
    ({ synonyms }) => synonyms.map((group) => group.join(' = ')),
    'A group on each line, such as “vpn = virtual private network”.',
    (line) => partsOf(line, /\s=\s/),
  ),
  'search.pins': lines(
    'Pinned pages',
    ({ pins }) => pins.map(({ query, neurons }) => `${query} = ${neurons.join(', ')}`),
    'What comes first for a query, such as “vpn = handbook_00000042”.',
    pinOf,
  ),
  'questions.keepDays': number(
    'Days for which questions are counted',
    ({ keptQuestions }) => keptQuestions,
    'Without who asked. 0: never.',
  ),
}

export type SettingName = keyof typeof table | `zones.kinds.${CandidateKind}`

/** Texts of a form by the path of the setting in `kb.yaml`. */
export type SettingValues = Record<SettingName, string>

/** All settings of the form. */
export const formSettings = Object.fromEntries([
  ...Object.entries(table),
  ...candidateKinds.map((kind) => [
    `zones.kinds.${kind}`,
    setting(zoneChoices, kind, ({ zones }) => zones?.kinds[kind] ?? '', undefined, asTextOrNone),
  ]),
]) as Record<SettingName, Setting>

export const settingNames = Object.keys(formSettings) as SettingName[]

/** Returns a form's values with `true` or `false` for each flag: a browser sends nothing for a box that is not ticked. */
export function withFlags(values: SettingValues): SettingValues {
  const read = { ...values }
  for (const name of settingNames) {
    if (formSettings[name].control === 'flag') read[name] = String(values[name] === 'true')
  }
  return read
}

/** Returns the texts of a form for the settings of a readable `kb.yaml`. */
export function valuesOf(settings: KbSettings): SettingValues {
  return Object.fromEntries(settingNames.map((name) => [name, formSettings[name].text(settings)])) as SettingValues
}

/** Returns the edits of `kb.yaml` that give a setting another value than it has. */
export function editsOf(name: SettingName, value: string, now: SettingValues): SettingEdit[] {
  const text = value.trim()
  if (name === 'zones.connectors') return connectorEdits(text, now[name])
  return [{ path: name.split('.') as [string, ...string[]], value: formSettings[name].value(text) }]
}

function zoneLines(connectors: Readonly<Record<string, Zone>>): string {
  return Object.entries(connectors)
    .map(([connector, zone]) => `${connector}: ${zone}`)
    .join('\n')
}

function furtherTypes(types: ReadonlySet<string>): string {
  const further = optionalFileTypes.filter((type) => types.has(type))
  return further.length === optionalFileTypes.length ? 'all' : further.join(', ')
}

function placesOf({ paths, tags }: Pick<OwnerRule, 'paths' | 'tags'>): string {
  return [...paths, ...tags.map((tag) => `#${tag}`)].join(', ')
}

function ownersOf(line: string) {
  const [places, people] = sidesOfLine(line)
  return { ...places, people: partsOf(people, /,/) }
}

function verifyOf(line: string) {
  const [places, days] = sidesOfLine(line)
  return { ...places, days: /^[0-9]+$/.test(days) ? Number(days) : days }
}

/** Splits a line at its last `=` into paths and tags, and what follows. */
function sidesOfLine(line: string): [{ paths?: string[]; tags?: string[] }, string] {
  const at = line.lastIndexOf('=')
  const places = partsOf(line.slice(0, Math.max(at, 0)), /,/)
  const [tags, paths] = [places.filter((name) => name.startsWith('#')), places.filter((name) => !name.startsWith('#'))]
  return [
    { ...(paths.length > 0 && { paths }), ...(tags.length > 0 && { tags: tags.map((tag) => tag.slice(1)) }) },
    line.slice(at + 1).trim(),
  ]
}

/** Parses a line whose last `=` precedes seqIds. */
function pinOf(line: string) {
  const at = line.lastIndexOf('=')
  return { query: line.slice(0, Math.max(at, 0)).trim(), neurons: partsOf(line.slice(at + 1), /,/) }
}

/** Parses a connector and its zone on each line. */
function connectorEdits(text: string, now: string): SettingEdit[] {
  const [wanted, known] = [connectorZones(text), connectorZones(now)]
  const gone = [...known.keys()].filter((connector) => !wanted.has(connector))
  return [
    ...gone.map((connector): SettingEdit => ({ path: ['zones', 'connectors', connector], value: undefined })),
    ...[...wanted].map(([connector, zone]): SettingEdit => ({ path: ['zones', 'connectors', connector], value: zone })),
  ]
}

function connectorZones(text: string): Map<string, Zone | string> {
  return new Map(
    partsOf(text, /\r?\n/).map((line) => {
      const colon = line.lastIndexOf(':')
      return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    }),
  )
}

function partsOf(text: string, separator: RegExp): string[] {
  const parts = text.split(separator).map((part) => part.trim())
  return [...new Set(parts.filter((part) => part !== ''))]
}

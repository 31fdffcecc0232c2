import { defaultFileTypes, fileTypes } from '../../contract/documents.ts'
import { type CandidateKind, candidateKinds, type Zone } from '../../contract/vocabulary.ts'
import type { SettingEdit } from '../../markdown/file/kb-file.ts'
import type { YamlInput } from '../../markdown/yaml/yaml.ts'
import type { OwnerRule } from '../../rules/deciding.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'
import { typedItems } from '../../rules/text/lines.ts'

type Choices = readonly (readonly [value: string, label: string])[]

/** Setting in the form, as text. */
type Setting = {
  label: string
  /** Control of the form: a line of text, several lines, a checkbox, or one of these choices. */
  control: 'text' | 'lines' | 'flag' | Choices
  text: (settings: KbSettings) => string
  /** Parses the text of the form into the value for `kb.yaml`; undefined removes the key. */
  value: (text: string) => SettingEdit['value']
}

type Read<Value> = (settings: KbSettings) => Value

const text = (label: string, read: Read<string>, value: Setting['value'] = (text) => text): Setting => {
  return { label, control: 'text', text: read, value }
}
const orNone = (text: string) => (text === '' ? undefined : text)
const choice = (label: string, control: Setting['control'], read: Read<string>, value?: Setting['value']) => {
  return { ...text(label, read, value), control }
}
/** Returns a setting with a number, which is written unquoted, as people do. The check of the settings rejects any other text. */
const number = (label: string, read: Read<number | undefined>) =>
  text(label, (settings) => String(read(settings) ?? ''), numberIn)
const names = (label: string, read: Read<readonly string[] | undefined>) =>
  text(label, (settings) => (read(settings) ?? []).join(', '), namesIn)
const flag = (label: string, read: Read<boolean | undefined>) =>
  choice(
    label,
    'flag',
    (settings) => String(read(settings) ?? false),
    (text) => text === 'true',
  )
const lines = (label: string, read: Read<readonly string[]>, parse: (line: string) => YamlInput) =>
  choice(
    label,
    'lines',
    (settings) => read(settings).join('\n'),
    (text) => typedItems(text, '\n').map(parse),
  )

const zones: Choices = [
  ['', 'none'],
  ['green', 'green: approved at once'],
  ['yellow', 'yellow: waits for a curator'],
  ['red', 'red: waits, with a warning'],
]
const breakZones: Choices = [...zones.slice(2), ['allow', 'allow: is approved']]
const engines: Choices = [
  ['auto', 'auto: by size'],
  ['minisearch', 'minisearch: in memory'],
  ['segments', 'segments: on disk'],
]

/** Settings in the form, by their path in `kb.yaml`, in the order in which a commit names them. */
const table = {
  title: text('Title', ({ title }) => title ?? ''),
  language: text('Language', ({ language }) => language),
  tone: choice('Tone', 'lines', ({ tone }) => tone ?? '', orNone),
  'policy.threshold': number('Threshold', ({ policy }) => policy?.threshold),
  'policy.singleCurator': flag('There is one curator only', ({ policy }) => policy?.singleCurator),
  'policy.singleCuratorThreshold': number('Threshold with one curator', ({ policy }) => policy?.singleCuratorThreshold),
  'policy.autoApproveConnectors': names('Connectors that are approved', ({ policy }) => policy?.autoApproveConnectors),
  'zones.connectors': choice('Zones of connectors', 'lines', ({ zones }) => zoneLines(zones?.connectors ?? {})),
  owners: lines('Owners', ({ deciding }) => (deciding?.owners ?? []).map(ownerLine), ownersIn),
  'approvals.yellow': number('Approvals that the yellow zone needs', ({ deciding }) => deciding?.approvals.yellow),
  'approvals.red': number('Approvals that the red zone needs', ({ deciding }) => deciding?.approvals.red),
  'approvals.keepOnMerge': flag(
    'Approvals stay when others change other lines of the page',
    ({ deciding }) => deciding?.approvals.keepOnMerge,
  ),
  authorMayApprove: flag('Who wrote a candidate may approve it', ({ deciding }) => deciding?.authorMayApprove),
  verify: lines('Pages to look at again', ({ verify }) => verify.map(verifyLine), verifyIn),
  'tests.onBreak': choice('What breaks an answer test', breakZones, ({ onBreak }) => onBreak),
  defaultAudience: names('Default audience', ({ defaultAudience }) => defaultAudience),
  inlineTags: flag('Tags in the text count', ({ inlineTags }) => inlineTags),
  'publish.keys': names('Front matter that readers see', ({ publishedKeys }) => publishedKeys),
  'lint.schedule': text(
    'Look for broken links',
    ({ lintSchedule }) => lintSchedule ?? '',
    (text) => text || 'never',
  ),
  protectMain: flag('Main takes no push', ({ protectMain }) => protectMain),
  'sources.types': text(
    'Further file types for Sources',
    ({ sourceTypes }) => furtherTypes(sourceTypes),
    (text) => (text === 'all' ? text : namesIn(text)),
  ),
  'sources.ocr': names('Languages of pictures and scans', ({ ocrLanguages }) => ocrLanguages),
  'rename.rewriteLinks': flag('Rewrite links when a page is renamed', ({ rewriteLinks }) => rewriteLinks),
  'search.engine': choice('Search engine', engines, ({ searchEngine }) => searchEngine),
  'search.synonyms': lines(
    'Synonyms',
    ({ synonyms }) => synonyms.map((group) => group.join(' = ')),
    (line) => typedItems(line, /\s=\s/),
  ),
  'search.pins': lines('Pinned pages', ({ pins }) => pins.map(pinLine), pinIn),
  'questions.keepDays': number('Days for which questions are counted', ({ keptQuestions }) => keptQuestions),
} satisfies Record<string, Setting>

/** Hints below the controls. */
export const settingHints: Partial<Record<SettingName, string>> = {
  language: 'Such as en or pt-BR. It decides how words are compared.',
  tone: 'How answers in the chat should sound.',
  'policy.threshold': 'A candidate whose confidence is at or above this, from 0 to 1, is approved.',
  'policy.autoApproveConnectors': 'With commas between. Only keys that may speak as them count.',
  'zones.connectors': 'One on each line, such as “site-chat: yellow”.',
  owners:
    'On each line paths and tags, and those of whom one must approve: “legal, #contracts = legal@example.com, Legal desk”.',
  'approvals.yellow': 'What has no zone needs one.',
  'approvals.red': 'At least as many as the yellow zone.',
  'approvals.keepOnMerge':
    'Else an approval falls when the page, or who sees it, would be other than what was approved.',
  authorMayApprove:
    'If not, only the connectors named above, and green ones, are approved without a curator, whatever the confidence or kind.',
  verify: 'On each line paths and tags, and after how many days: “handbook, #prices = 180”.',
  defaultAudience: 'Of pages that list none: tool, public, student, with commas between. Empty: curators only.',
  inlineTags: '#internal in a text then hides the page from all but curators.',
  'publish.keys':
    'Keys of your own, with commas between, such as “status, aliases”. Readers, their clones and public mirrors get no others.',
  'lint.schedule': 'As in a crontab, in UTC, such as “0 4 * * *”. Empty: never.',
  protectMain: 'Every change by git is then proposed.',
  'sources.types': 'With commas between, such as “eml, tsv”; or all.',
  'sources.ocr':
    'Up to five of Tesseract’s codes, with commas between, such as “deu, fra, eng”. Each but eng is a package on the server. Empty: English.',
  'rename.rewriteLinks': 'Else its old name stays as an alias.',
  'search.synonyms': 'A group on each line, such as “vpn = virtual private network”.',
  'search.pins': 'What comes first for a query, such as “vpn = handbook_00000042”.',
  'questions.keepDays': 'Without who asked. 0: never.',
}

export type SettingName = keyof typeof table | `zones.kinds.${CandidateKind}`

/** Texts of a form by the path of the setting in `kb.yaml`. */
export type SettingValues = Record<SettingName, string>

/** All settings of the form. */
export const formSettings = Object.fromEntries([
  ...Object.entries(table),
  ...candidateKinds.map((kind) => [
    `zones.kinds.${kind}`,
    choice(kind, zones, ({ zones }) => zones?.kinds[kind] ?? '', orNone),
  ]),
]) as Record<SettingName, Setting>

export const settingNames = Object.keys(formSettings) as SettingName[]

/** Returns a form's values with `true` or `false` for each flag: browsers send nothing for an unchecked box. */
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

/** Returns the edits of `kb.yaml` that change a setting, if its value is new. */
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

/** File types that a knowledge base accepts only if its settings say so. */
const optionalFileTypes = fileTypes.filter((type) => !defaultFileTypes.some((each) => each === type))

function furtherTypes(types: ReadonlySet<string>): string {
  const further = optionalFileTypes.filter((type) => types.has(type))
  return further.length === optionalFileTypes.length ? 'all' : further.join(', ')
}

type Places = Pick<OwnerRule, 'paths' | 'tags'>

function placesOf({ paths, tags }: Places): string {
  return [...paths, ...tags.map((tag) => `#${tag}`)].join(', ')
}

function ownerLine({ people, ...places }: OwnerRule): string {
  return `${placesOf(places)} = ${people.join(', ')}`
}

function ownersIn(line: string) {
  const [places, people] = sidesOf(line)
  return { ...placesIn(places), people: namesIn(people) }
}

function verifyLine({ days, ...places }: Places & { days: number }): string {
  return `${placesOf(places)} = ${days}`
}

function verifyIn(line: string) {
  const [places, days] = sidesOf(line)
  return { ...placesIn(places), days: numberIn(days) }
}

function pinLine({ query, neurons }: KbSettings['pins'][number]): string {
  return `${query} = ${neurons.join(', ')}`
}

function pinIn(line: string) {
  const [query, neurons] = sidesOf(line)
  return { query, neurons: namesIn(neurons) }
}

/** Splits a line at its last `=`. */
function sidesOf(line: string): [string, string] {
  const at = line.lastIndexOf('=')
  return [line.slice(0, Math.max(at, 0)).trim(), line.slice(at + 1).trim()]
}

function placesIn(text: string): { paths?: string[]; tags?: string[] } {
  const { paths = [], tags = [] } = Object.groupBy(namesIn(text), (name) => (name.startsWith('#') ? 'tags' : 'paths'))
  return { ...(paths.length > 0 && { paths }), ...(tags.length > 0 && { tags: tags.map((tag) => tag.slice(1)) }) }
}

function numberIn(text: string): number | string {
  return /^(?:[0-9]*\.)?[0-9]+$/.test(text) ? Number(text) : text
}

function namesIn(text: string): string[] {
  return typedItems(text, ',')
}

/** Parses a connector and its zone on each line. */
function connectorEdits(text: string, now: string): SettingEdit[] {
  const [wanted, known] = [connectorZones(text), connectorZones(now)]
  return [...new Set([...known.keys(), ...wanted.keys()])].map((connector) => ({
    path: ['zones', 'connectors', connector],
    value: wanted.get(connector),
  }))
}

function connectorZones(text: string): Map<string, string> {
  return new Map(
    typedItems(text, '\n').map((line) => {
      const colon = line.lastIndexOf(':')
      return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    }),
  )
}

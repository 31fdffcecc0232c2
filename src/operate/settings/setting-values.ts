import { defaultFileTypes, fileTypes } from '../../contract/documents.ts'
import { candidateKinds, type Zone } from '../../contract/vocabulary.ts'
import type { SettingEdit } from '../../markdown/file/kb-file-edit.ts'
import type { OwnerRule } from '../../rules/deciding.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'

/**
 * Settings as a form has them, by their path in `kb.yaml`: text, flags as `true` and `false`, lists with a comma between, groups
 * of synonyms on a line each, as `vpn = virtual private network`, owners, as `legal, #contracts = legal@example.com`, and pinned pages, as `vpn = handbook_00000042`.
 */
export type SettingValues = Record<SettingName, string>

export const settingNames = [
  'title',
  'language',
  'tone',
  'policy.threshold',
  'policy.singleCurator',
  'policy.singleCuratorThreshold',
  'policy.autoApproveConnectors',
  'zones.connectors',
  'owners',
  'approvals.yellow',
  'approvals.red',
  'approvals.keepOnMerge',
  'authorMayApprove',
  'verify',
  'tests.onBreak',
  'defaultAudience',
  'inlineTags',
  'publish.keys',
  'lint.schedule',
  'protectMain',
  'sources.types',
  'sources.ocr',
  'rename.rewriteLinks',
  'search.engine',
  'search.synonyms',
  'search.pins',
  'questions.keepDays',
  ...candidateKinds.map((kind) => `zones.kinds.${kind}` as const),
] as const
export type SettingName = (typeof settingNames)[number]

/** File types that a knowledge base takes only if its settings say so. */
const optionalFileTypes = fileTypes.filter((type) => !defaultFileTypes.some((each) => each === type))

const lists: ReadonlySet<SettingName> = new Set([
  'policy.autoApproveConnectors',
  'defaultAudience',
  'publish.keys',
  'sources.types',
  'sources.ocr',
])
const flags: ReadonlySet<SettingName> = new Set([
  'policy.singleCurator',
  'approvals.keepOnMerge',
  'authorMayApprove',
  'inlineTags',
  'protectMain',
  'rename.rewriteLinks',
])

/** Returns a form's values with `true` or `false` for each flag: a browser sends nothing for a box that is not ticked. */
export function withFlags(values: SettingValues): SettingValues {
  const read = { ...values }
  for (const name of flags) read[name] = String(values[name] === 'true')
  return read
}

/** What the settings of a readable `kb.yaml` are in a form. */
export function valuesOf(settings: KbSettings): SettingValues {
  const { policy, zones, deciding } = settings
  const ofKinds = Object.fromEntries(candidateKinds.map((kind) => [`zones.kinds.${kind}`, zones?.kinds[kind] ?? '']))
  const optional = optionalFileTypes.filter((type) => settings.sourceTypes.has(type))
  const values: Record<string, string> = {
    title: settings.title ?? '',
    language: settings.language,
    tone: settings.tone ?? '',
    'policy.threshold': String(policy?.threshold ?? ''),
    'policy.singleCurator': String(policy?.singleCurator ?? false),
    'policy.singleCuratorThreshold': String(policy?.singleCuratorThreshold ?? ''),
    'policy.autoApproveConnectors': (policy?.autoApproveConnectors ?? []).join(', '),
    'zones.connectors': Object.entries(zones?.connectors ?? {})
      .map(([connector, zone]) => `${connector}: ${zone}`)
      .join('\n'),
    owners: (deciding?.owners ?? []).map(ownerLine).join('\n'),
    'approvals.yellow': String(deciding?.approvals.yellow ?? ''),
    'approvals.red': String(deciding?.approvals.red ?? ''),
    'approvals.keepOnMerge': String(deciding?.approvals.keepOnMerge ?? false),
    authorMayApprove: String(deciding?.authorMayApprove ?? false),
    'tests.onBreak': settings.onBreak,
    verify: settings.verify.map(({ days, ...rule }) => `${placesOf(rule)} = ${days}`).join('\n'),
    defaultAudience: settings.defaultAudience.join(', '),
    inlineTags: String(settings.inlineTags),
    'publish.keys': settings.publishedKeys.join(', '),
    'lint.schedule': settings.lintSchedule ?? '',
    protectMain: String(settings.protectMain),
    'sources.types': optional.length === optionalFileTypes.length ? 'all' : optional.join(', '),
    'sources.ocr': settings.ocrLanguages.join(', '),
    'rename.rewriteLinks': String(settings.rewriteLinks),
    'search.engine': settings.searchEngine,
    'search.synonyms': settings.synonyms.map((group) => group.join(' = ')).join('\n'),
    'search.pins': settings.pins.map(({ query, neurons }) => `${query} = ${neurons.join(', ')}`).join('\n'),
    'questions.keepDays': String(settings.keptQuestions),
    ...ofKinds,
  }
  return values as SettingValues
}

/** What must change in `kb.yaml` for a setting to have another value than it has. */
export function editsOf(name: SettingName, value: string, now: SettingValues): SettingEdit[] {
  const text = value.trim()
  if (name === 'zones.connectors') return connectorEdits(text, now[name])
  const path = name.split('.') as [string, ...string[]]
  if (name === 'lint.schedule') return [{ path, value: text === '' ? 'never' : text }]
  if (name === 'tone' || name.startsWith('zones.kinds.')) return [{ path, value: text === '' ? undefined : text }]
  if (name === 'sources.types' && text === 'all') return [{ path, value: 'all' }]
  if (name === 'search.synonyms') return [{ path, value: partsOf(text, /\r?\n/).map((line) => partsOf(line, /\s=\s/)) }]
  if (name === 'search.pins') return [{ path, value: partsOf(text, /\r?\n/).map(pinOf) }]
  if (name === 'owners') return [{ path, value: partsOf(text, /\r?\n/).map(ownersOf) }]
  if (name === 'verify') return [{ path, value: partsOf(text, /\r?\n/).map(verifyOf) }]
  if (lists.has(name)) return [{ path, value: partsOf(text, /,/) }]
  if (flags.has(name)) return [{ path, value: text === 'true' }]
  // Unquoted, as people write it; what is no number is text, and refused.
  const isNumber =
    (/^approvals|hreshold$/.test(name) || name === 'questions.keepDays') && /^(?:[0-9]*\.)?[0-9]+$/.test(text)
  return [{ path, value: isNumber ? Number(text) : text }]
}

function ownerLine({ people, ...rule }: OwnerRule): string {
  return `${placesOf(rule)} = ${people.join(', ')}`
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

/** Paths and tags before the last `=` of a line, and what comes after it. */
function sidesOfLine(line: string): [{ paths?: string[]; tags?: string[] }, string] {
  const at = line.lastIndexOf('=')
  const places = partsOf(line.slice(0, Math.max(at, 0)), /,/)
  const [tags, paths] = [places.filter((name) => name.startsWith('#')), places.filter((name) => !name.startsWith('#'))]
  return [
    { ...(paths.length > 0 && { paths }), ...(tags.length > 0 && { tags: tags.map((tag) => tag.slice(1)) }) },
    line.slice(at + 1).trim(),
  ]
}

/** The line after its last `=` lists seqIds. */
function pinOf(line: string) {
  const at = line.lastIndexOf('=')
  return { query: line.slice(0, Math.max(at, 0)).trim(), neurons: partsOf(line.slice(at + 1), /,/) }
}

/** A connector and its zone on each line. */
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

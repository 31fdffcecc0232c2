import { describe, expect, test } from 'vitest'
import { defaultFileTypes, fileTypes } from '../../src/contract/documents.ts'
import { parseKbSettings } from '../../src/rules/kb-settings.ts'
import { fc } from '../support/properties.ts'

const identity = {
  id: '0199a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f',
  slug: 'handbook',
  prefix: 'handbook',
  title: 'Handbook',
}

const pathsOf = (data: unknown) => parseKbSettings(data).problems.map(({ path }) => path)

test('what is not said has its default', () => {
  expect(parseKbSettings(identity)).toEqual({
    settings: {
      ...identity,
      language: 'en',
      tone: null,
      policy: { threshold: 0.8, singleCurator: false, singleCuratorThreshold: 0.5, autoApproveConnectors: ['lint'] },
      zones: { kinds: {}, connectors: {} },
      deciding: { owners: [], approvals: { yellow: 1, red: 1, keepOnMerge: false }, authorMayApprove: true },
      onBreak: 'yellow',
      verify: [],
      defaultAudience: ['tool', 'public'],
      searchEngine: 'auto',
      synonyms: [],
      pins: [],
      keptQuestions: 90,
      lintSchedule: null,
      protectMain: false,
      inlineTags: false,
      publishedKeys: [],
      rewriteLinks: false,
      ocrLanguages: [],
      sourceTypes: new Set(defaultFileTypes),
    },
    problems: [],
  })
})

test('text is typed', () => {
  const { settings, problems } = parseKbSettings({
    ...identity,
    language: 'pt-BR',
    tone: 'Friendly.\nShort.',
    policy: {
      threshold: '0.95',
      singleCurator: 'true',
      singleCuratorThreshold: '.6',
      autoApproveConnectors: ['lint', 'sync'],
    },
    zones: { kinds: { 'user-correction': 'yellow' }, connectors: { crawler: 'red', constructor: 'red' } },
    owners: [
      { paths: ['legal', 'kb.yaml'], people: ['legal@example.com'] },
      { tags: ['contracts'], people: ['Legal desk'] },
    ],
    approvals: { red: '2' },
    authorMayApprove: 'false',
    verify: [{ paths: ['prices'], days: '180' }],
    defaultAudience: ['public'],
    search: {
      engine: 'segments',
      synonyms: [
        ['k8s', 'Kubernetes'],
        ['vpn', 'virtual private network'],
      ],
      pins: [{ query: 'vpn', neurons: ['handbook_00000042'] }],
    },
    tests: { onBreak: 'red' },
    questions: { keepDays: '30' },
    lint: { schedule: '0 4 * * *' },
    protectMain: 'true',
    rename: { rewriteLinks: 'true' },
    sources: { types: ['odt', 'eml'], ocr: ['deu', 'chi_sim'] },
    inlineTags: 'true',
    publish: { keys: ['status', 'aliases'] },
  })
  expect(problems).toMatchObject([
    {
      path: 'authorMayApprove',
      severity: 'warning',
      message: expect.stringContaining('only what comes by lint, sync, whatever the confidence'),
    },
  ])
  expect(settings).toEqual({
    ...identity,
    language: 'pt-BR',
    tone: 'Friendly.\nShort.',
    policy: {
      threshold: 0.95,
      singleCurator: true,
      singleCuratorThreshold: 0.6,
      autoApproveConnectors: ['lint', 'sync'],
    },
    zones: { kinds: { 'user-correction': 'yellow' }, connectors: { crawler: 'red', constructor: 'red' } },
    deciding: {
      owners: [
        { paths: ['legal', 'kb.yaml'], tags: [], people: ['legal@example.com'] },
        { paths: [], tags: ['contracts'], people: ['Legal desk'] },
      ],
      approvals: { yellow: 1, red: 2, keepOnMerge: false },
      authorMayApprove: false,
    },
    verify: [{ paths: ['prices'], tags: [], days: 180 }],
    defaultAudience: ['public'],
    searchEngine: 'segments',
    synonyms: [
      ['k8s', 'Kubernetes'],
      ['vpn', 'virtual private network'],
    ],
    pins: [{ query: 'vpn', neurons: ['handbook_00000042'] }],
    onBreak: 'red',
    keptQuestions: 30,
    lintSchedule: '0 4 * * *',
    protectMain: true,
    inlineTags: true,
    publishedKeys: ['status', 'aliases'],
    rewriteLinks: true,
    ocrLanguages: ['deu', 'chi_sim'],
    sourceTypes: new Set([...defaultFileTypes, 'odt', 'eml']),
  })
})

test.each([
  { owners: [{ paths: ['legal'], people: [] }] },
  { owners: [{ people: ['ann@example.com'] }] },
  { owners: [{ paths: ['legal/**'], people: ['ann@example.com'] }] },
  { owners: [{ paths: ['/legal'], people: ['ann@example.com'] }] },
  { owners: [{ paths: ['./legal'], people: ['ann@example.com'] }] },
  { approvals: { red: '0' } },
  { authorMayApprove: 'perhaps' },
])('where %j cannot be read, nobody decides', (data) => {
  expect(parseKbSettings({ ...identity, ...data }).settings.deciding).toBeNull()
})

test('files of all types may be allowed, but none that cannot be read', () => {
  const typesOf = (types: unknown) => parseKbSettings({ ...identity, sources: { types } })
  expect(typesOf('all').settings.sourceTypes).toEqual(new Set(fileTypes))
  expect(typesOf('').settings.sourceTypes).toEqual(new Set(defaultFileTypes))
  expect(typesOf(['odt', 'exe'])).toMatchObject({
    settings: { sourceTypes: new Set(defaultFileTypes) },
    problems: [{ path: 'sources.types.1', message: 'exe is not a type of file that can be read' }],
  })
  expect(typesOf('odt').problems).toMatchObject([
    { path: 'sources.types', message: expect.stringContaining('must be all') },
  ])
})

test.each(['yes', '1', ['true']])('inlineTags: %j is a problem, and may have been true', (inlineTags) => {
  const { settings, problems } = parseKbSettings({ ...identity, inlineTags })
  expect([problems.map(({ path }) => path), settings.inlineTags]).toEqual([['inlineTags'], true])
})

test.each(['never', '', null])('a lint schedule of %j is none', (schedule) => {
  const { settings, problems } = parseKbSettings({ ...identity, lint: { schedule } })
  expect({ problems, schedule: settings.lintSchedule }).toEqual({ problems: [], schedule: null })
})

test.each(['daily', '0 4 * *', '60 * * * *', ['0 4 * * *']])(
  'a lint schedule of %j is a problem, and none',
  (schedule) => {
    const { settings, problems } = parseKbSettings({ ...identity, lint: { schedule } })
    expect(problems).toMatchObject([{ path: 'lint.schedule', severity: 'error' }])
    expect(settings.lintSchedule).toBeNull()
  },
)

test('an empty value is nothing said, an empty list is empty', () => {
  const { settings, problems } = parseKbSettings({
    ...identity,
    language: '',
    tone: '',
    zones: { kinds: '', connectors: '' },
    policy: { autoApproveConnectors: '' },
    defaultAudience: '',
    protectMain: '',
    rename: '',
  })
  expect(problems).toEqual([])
  expect(settings).toMatchObject({
    language: 'en',
    tone: null,
    zones: { kinds: {}, connectors: {} },
    defaultAudience: [],
    protectMain: false,
    rewriteLinks: false,
  })
  expect(settings.policy).toMatchObject({ threshold: 0.8, autoApproveConnectors: [] })
  expect(parseKbSettings({ ...identity, policy: '', zones: '' })).toEqual(parseKbSettings(identity))
})

describe('what is wrong is a problem, and is read strictly', () => {
  test.each([null, undefined, '', 'x', 42, [], [identity]])('%j is no settings', (data) => {
    const { settings, problems } = parseKbSettings(data)
    expect(problems).toEqual([{ path: '', severity: 'error', message: 'must be a mapping' }])
    expect(settings).toMatchObject({ id: null, policy: null, zones: null, defaultAudience: [], protectMain: true })
  })

  test.each([
    ['threshold', 'high'],
    ['threshold', '1.5'],
    ['threshold', '-1'],
    ['threshold', '1e-9'],
    ['threshold', ''],
    ['threshold', 0.8],
    ['singleCurator', 'yes'],
    ['singleCurator', true],
    ['singleCuratorThreshold', 'NaN'],
    ['autoApproveConnectors', 'lint'],
    ['autoApproveConnectors', { lint: 'true' }],
  ])('a policy with %s: %j approves nothing', (key, value) => {
    const { settings, problems } = parseKbSettings({ ...identity, policy: { [key]: value } })
    expect(problems).toEqual([{ path: `policy.${key}`, severity: 'error', message: expect.any(String) }])
    expect(settings.policy).toBeNull()
  })

  test.each([
    [{ kinds: { 'chat-answer': 'purple' } }, 'zones.kinds.chat-answer'],
    [{ kinds: { 'chat-anwser': 'red' } }, 'zones.kinds'],
    [{ connectors: { lint: ['red'] } }, 'zones.connectors.lint'],
    [{ connectors: ['red'] }, 'zones.connectors'],
    ['red', 'zones'],
  ])('zones %j cannot be trusted', (zones, path) => {
    const { settings, problems } = parseKbSettings({ ...identity, zones })
    expect(problems).toEqual([{ path, severity: 'error', message: expect.any(String) }])
    expect(settings.zones).toBeNull()
  })

  test('a broken default audience hides what lists none', () => {
    const { settings } = parseKbSettings({ ...identity, defaultAudience: 'public' })
    expect(settings.defaultAudience).toEqual([])
    expect(pathsOf({ ...identity, defaultAudience: 'public' })).toEqual(['defaultAudience'])
  })

  test.each(['yes', 'True', true, ['true']])('a main with protection %j takes no push', (protectMain) => {
    const { settings, problems } = parseKbSettings({ ...identity, protectMain })
    expect(problems).toEqual([{ path: 'protectMain', severity: 'error', message: expect.any(String) }])
    expect(settings.protectMain).toBe(true)
  })

  test.each([
    ['true', 'rename'],
    [{ rewriteLinks: 'yes' }, 'rename.rewriteLinks'],
    [{ rewriteLinks: true }, 'rename.rewriteLinks'],
  ])('with renames %j no link is rewritten', (rename, path) => {
    const { settings, problems } = parseKbSettings({ ...identity, rename })
    expect(problems).toEqual([{ path, severity: 'error', message: expect.any(String) }])
    expect(settings.rewriteLinks).toBe(false)
  })

  test('a broken identity is none', () => {
    const { settings, problems } = parseKbSettings({
      id: 'x',
      slug: 'con',
      prefix: 'A_b',
      title: 'a\nb',
      language: '?',
      tone: [],
    })
    expect(problems.map(({ path }) => path)).toEqual(['id', 'slug', 'prefix', 'title', 'language', 'tone'])
    expect(settings).toMatchObject({ id: null, slug: null, prefix: null, title: null, language: 'en', tone: null })
  })

  test('a missing identity is said to be missing', () => {
    expect(pathsOf({})).toEqual(['id', 'slug', 'prefix', 'title'])
  })
})

test('an unknown key is only a warning', () => {
  const data = { ...identity, colour: 'red', policy: { treshold: '1' }, zones: { kind: {} }, rename: { links: 'true' } }
  expect(parseKbSettings(data).problems).toEqual([
    { path: 'colour', severity: 'warning', message: 'is not a setting' },
    { path: 'policy.treshold', severity: 'warning', message: 'is not a setting' },
    { path: 'zones.kind', severity: 'warning', message: 'is not a setting' },
    { path: 'rename.links', severity: 'warning', message: 'is not a setting' },
  ])
})

test('whatever the data, settings come out', () => {
  fc.assert(
    fc.property(
      fc.record(
        {
          id: fc.anything(),
          policy: fc.anything(),
          zones: fc.anything(),
          defaultAudience: fc.anything(),
          tone: fc.anything(),
        },
        { requiredKeys: [] },
      ),
      (data) => {
        const { settings } = parseKbSettings(data)
        expect(Array.isArray(settings.defaultAudience)).toBe(true)
        expect(settings.policy?.threshold ?? 1).toBeLessThanOrEqual(1)
      },
    ),
  )
})

test.each([
  ['search.synonyms', 'k8s'],
  ['search.synonyms.0', ['k8s']],
  ['search.synonyms.0', [['k8s']]],
  ['search.synonyms.0', [Array.from({ length: 11 }, (_, n) => `word${n}`)]],
  ['search.synonyms', Array.from({ length: 201 }, (_, n) => [`a${n}`, `b${n}`])],
  ['search.synonyms.0.1', [['k8s', '']]],
  ['search.synonyms.0.0', [['x'.repeat(101), 'b']]],
])('what %s may not be is a problem, and no synonyms', (path, synonyms) => {
  const { settings, problems } = parseKbSettings({ ...identity, search: { synonyms } })
  expect(problems.map((problem) => problem.path)).toEqual([path])
  expect(settings.synonyms).toEqual([])
})

test('who decides is guarded only where somebody owns kb.yaml', () => {
  const warned = (data: object) =>
    parseKbSettings({ ...identity, ...data }).problems.map(({ severity, path }) => `${severity} ${path}`)
  const owners = (path: string) => [{ paths: [path], people: ['ann@example.com'] }]
  for (const data of [{ approvals: { red: '2' } }, { owners: owners('legal') }])
    expect(warned(data)).toEqual(['warning owners'])
  expect(warned({ authorMayApprove: 'false' })).toEqual(['warning owners', 'warning authorMayApprove'])
  for (const data of [{}, { approvals: { red: '1' } }, { approvals: { red: '2' }, owners: owners('kb.yaml') }])
    expect(warned(data)).toEqual([])
})

test.each([
  [['metadata', 'status'], 'publish.keys.0'],
  [['audience'], 'publish.keys.0'],
  ['status', 'publish.keys'],
])('where a key of the server or no list is to be published, no key is', (keys, path) => {
  const { settings, problems } = parseKbSettings({ ...identity, publish: { keys } })
  expect(settings.publishedKeys).toEqual([])
  expect(problems).toMatchObject([{ path, severity: 'error' }])
})

test.each([
  [{ yellow: '2' }, 2, []],
  [{ yellow: '3', red: '2' }, 3, ['approvals.red is read as 3']],
  [{ yellow: '2', red: '2' }, 2, []],
  [{ red: '3' }, 3, []],
])('%j asks for at least as many approvals in the red zone as in the yellow one', (approvals, red, warned) => {
  const owners = [{ paths: ['kb.yaml'], people: ['ann@example.com'] }]
  const { settings, problems } = parseKbSettings({ ...identity, owners, approvals })
  expect(settings.deciding?.approvals.red).toBe(red)
  expect(problems.map(({ path, message }) => `${path} ${message.split(':')[0]}`)).toEqual(warned)
})

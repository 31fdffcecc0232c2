import { describe, expect, test } from 'vitest'
import { candidateKinds, type Zone } from '../../src/contract/vocabulary.ts'
import { parseKbSettings } from '../../src/rules/kb-settings.ts'
import { type Judged, judge } from '../../src/rules/policy.ts'
import { fc, runs } from '../support/properties.ts'

const plain: Judged = {
  kind: 'external-feed',
  confidence: null,
  connector: 'api',
  door: 'api',
  trustedConnector: false,
  actionZone: null,
  targetProblem: null,
}

/** Settings as a curator writes them. */
function settingsOf(data: { policy?: unknown; zones?: unknown } = {}) {
  return parseKbSettings(data).settings
}

const green = { zones: { kinds: { 'external-feed': 'green' } } }

describe('confidence', () => {
  test.each([
    [0.79, false, 'confidence 0.79 is below every threshold'],
    [0.8, true, 'confidence 0.8 >= 0.8'],
    [1, true, 'confidence 1 >= 0.8'],
    [0, false, 'confidence 0 is below every threshold'],
    [null, false, 'no confidence given'],
    [Number.NaN, false, 'confidence NaN is below every threshold'],
  ])('%j against the default threshold', (confidence, approve, reason) => {
    expect(judge({ ...plain, confidence }, settingsOf())).toEqual({ approve, zone: null, reason, warnings: [] })
  })

  test('no confidence is below a threshold of zero', () => {
    const settings = settingsOf({ policy: { threshold: '0' } })
    expect(judge({ ...plain, confidence: 0 }, settings).approve).toBe(true)
    expect(judge(plain, settings).approve).toBe(false)
  })

  test('a single curator has the more permissive of two thresholds', () => {
    const alone = settingsOf({ policy: { singleCurator: 'true' } })
    expect(judge({ ...plain, confidence: 0.5 }, alone)).toMatchObject({
      approve: true,
      reason: 'confidence 0.5 >= 0.5 (single curator)',
    })
    expect(judge({ ...plain, confidence: 0.49 }, alone).approve).toBe(false)
    expect(judge({ ...plain, confidence: 0.5 }, settingsOf()).approve).toBe(false)
    const odd = settingsOf({ policy: { singleCurator: 'true', singleCuratorThreshold: '0.9' } })
    expect(judge({ ...plain, confidence: 0.8 }, odd).approve).toBe(true)
  })
})

describe('connector', () => {
  test('lint is approved where the key may claim it', () => {
    const lint = { ...plain, connector: 'lint' }
    expect(judge({ ...lint, trustedConnector: true }, settingsOf())).toMatchObject({
      approve: true,
      reason: 'connector lint is auto-approved',
    })
    expect(judge(lint, settingsOf()).approve).toBe(false)
    expect(judge({ ...plain, trustedConnector: true }, settingsOf()).approve).toBe(false)
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%s finds nothing in a prototype',
    (connector) => {
      expect(judge({ ...plain, connector, trustedConnector: true }, settingsOf())).toMatchObject({
        approve: false,
        zone: null,
      })
    },
  )
})

describe('zone', () => {
  const trusted = { ...plain, connector: 'lint', trustedConnector: true, confidence: 1 }

  test('red never approves, and warns', () => {
    const verdict = judge(trusted, settingsOf({ zones: { connectors: { lint: 'red' } } }))
    expect(verdict).toMatchObject({ approve: false, zone: 'red', reason: 'zone red' })
    expect(verdict.warnings).toHaveLength(1)
  })

  test('yellow never approves', () => {
    const verdict = judge(trusted, settingsOf({ zones: { connectors: { lint: 'yellow' } } }))
    expect(verdict).toEqual({ approve: false, zone: 'yellow', reason: 'zone yellow', warnings: [] })
  })

  test('green approves without any confidence', () => {
    expect(judge(plain, settingsOf(green))).toEqual({
      approve: true,
      zone: 'green',
      reason: 'zone green',
      warnings: [],
    })
  })

  test('the strictest of kind, connector and caller holds', () => {
    const zoneOf = (kind: string, connector: string, actionZone: Zone | null) =>
      judge(
        { ...trusted, actionZone },
        settingsOf({ zones: { kinds: { 'external-feed': kind }, connectors: { lint: connector } } }),
      ).zone
    expect(zoneOf('green', 'green', null)).toBe('green')
    expect(zoneOf('green', 'yellow', null)).toBe('yellow')
    expect(zoneOf('red', 'green', 'green')).toBe('red')
    expect(zoneOf('yellow', 'green', 'red')).toBe('red')
    expect(zoneOf('green', 'green', 'yellow')).toBe('yellow')
  })

  test("a caller's own green adds nothing", () => {
    expect(judge({ ...plain, actionZone: 'green' }, settingsOf())).toMatchObject({ approve: false, zone: null })
  })

  test('green by connector counts only where the key may claim the connector', () => {
    const settings = settingsOf({ zones: { connectors: { api: 'green' } } })
    expect(judge({ ...plain, trustedConnector: true }, settings).approve).toBe(true)
    expect(judge(plain, settings)).toMatchObject({ approve: false, zone: null })
  })

  test.each([
    'ingest-summary',
    'ingest-page-update',
    'cross-ref-suggestion',
    'contradiction-alert',
    'gap-detection',
  ] as const)('green by the kind %s counts only for the pipeline that emits it', (kind) => {
    const settings = settingsOf({ zones: { kinds: { [kind]: 'green' } } })
    expect(judge({ ...plain, kind, trustedConnector: true }, settings).approve).toBe(true)
    expect(judge({ ...plain, kind }, settings)).toMatchObject({ approve: false, zone: null })
  })

  test('red by connector or kind binds also who may not claim it', () => {
    const settings = settingsOf({ zones: { kinds: { 'gap-detection': 'red' }, connectors: { api: 'red' } } })
    expect(judge({ ...plain, confidence: 1 }, settings).zone).toBe('red')
    expect(judge({ ...plain, connector: 'x', kind: 'gap-detection', confidence: 1 }, settings).zone).toBe('red')
  })
})

test('a problem with the target never approves, and warns', () => {
  const targetProblem = 'The target handbook_00000042 does not exist.'
  expect(judge({ ...plain, targetProblem, confidence: 1 }, settingsOf(green))).toEqual({
    approve: false,
    zone: 'green',
    reason: 'the sender sees no such target',
    warnings: [targetProblem],
  })
  expect(judge({ ...plain, targetProblem, actionZone: 'red' }, settingsOf()).warnings).toHaveLength(2)
})

test.each([{ policy: 'x' }, { policy: { threshold: 'low' } }, { zones: 'x' }, { ...green, policy: [] }])(
  'settings that cannot be read approve nothing: %j',
  (data) => {
    const trusted = { ...plain, connector: 'lint', trustedConnector: true, confidence: 1, actionZone: 'green' as const }
    expect(judge(trusted, settingsOf(data))).toMatchObject({
      approve: false,
      reason: 'the policy in kb.yaml cannot be read',
    })
  },
)

describe('making anything stricter never approves what was pending', () => {
  const zone = fc.constantFrom<Zone | null>(null, 'green', 'yellow', 'red')
  const fraction = fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10)
  const candidates = fc.record<Judged>({
    kind: fc.constantFrom(...candidateKinds),
    confidence: fc.option(fraction),
    connector: fc.constantFrom('api', 'lint', 'upload'),
    door: fc.constantFrom('api', 'mcp'),
    trustedConnector: fc.boolean(),
    actionZone: zone,
    targetProblem: fc.constantFrom(null, 'It does not exist.'),
  })
  const policies = fc.record({
    threshold: fraction,
    singleCurator: fc.boolean(),
    singleCuratorThreshold: fraction,
    autoApproveConnectors: fc.subarray(['api', 'lint', 'upload']),
  })
  const zones = fc.record({
    kinds: fc.dictionary(fc.constantFrom(...candidateKinds), fc.constantFrom<Zone>('green', 'yellow', 'red')),
    connectors: fc.dictionary(
      fc.constantFrom('api', 'lint', 'upload'),
      fc.constantFrom<Zone>('green', 'yellow', 'red'),
    ),
  })
  type Settings = Parameters<typeof judge>[1]
  const decidingOf = (authorMayApprove: boolean) =>
    parseKbSettings({ authorMayApprove: String(authorMayApprove) }).settings.deciding
  type Case = { candidate: Judged; settings: Settings }
  const cases: fc.Arbitrary<Case> = fc.record({
    candidate: candidates,
    settings: fc.record({ policy: policies, zones, deciding: fc.constantFrom(...[true, false].map(decidingOf)) }),
  })

  const stricter: Record<string, (subject: Case) => Case> = {
    'trust is lost': ({ candidate, settings }) => ({ candidate: { ...candidate, trustedConnector: false }, settings }),
    'confidence is lost': ({ candidate, settings }) => ({ candidate: { ...candidate, confidence: null }, settings }),
    'confidence falls': ({ candidate, settings }) => ({
      candidate: { ...candidate, confidence: candidate.confidence === null ? null : candidate.confidence - 0.1 },
      settings,
    }),
    'the caller says yellow': ({ candidate, settings }) => ({
      candidate: { ...candidate, actionZone: 'yellow' },
      settings,
    }),
    'the caller says red': ({ candidate, settings }) => ({ candidate: { ...candidate, actionZone: 'red' }, settings }),
    'the target is gone': ({ candidate, settings }) => ({
      candidate: { ...candidate, targetProblem: 'Gone.' },
      settings,
    }),
    'the policy breaks': ({ candidate, settings }) => ({ candidate, settings: { ...settings, policy: null } }),
    'the zones break': ({ candidate, settings }) => ({ candidate, settings: { ...settings, zones: null } }),
    'the threshold rises': ({ candidate, settings: { policy, zones, deciding } }) => ({
      candidate,
      settings: { policy: policy && { ...policy, threshold: policy.threshold + 0.1 }, zones, deciding },
    }),
    'a second curator comes': ({ candidate, settings: { policy, zones, deciding } }) => ({
      candidate,
      settings: { policy: policy && { ...policy, singleCurator: false }, zones, deciding },
    }),
    'no connector is auto-approved': ({ candidate, settings: { policy, zones, deciding } }) => ({
      candidate,
      settings: { policy: policy && { ...policy, autoApproveConnectors: [] }, zones, deciding },
    }),
    'authors may not approve any more': ({ candidate, settings }) => ({
      candidate,
      settings: { ...settings, deciding: decidingOf(false) },
    }),
    'who decides cannot be read': ({ candidate, settings }) => ({
      candidate,
      settings: { ...settings, deciding: null },
    }),
    'the door turns yellow': ({ candidate, settings: { policy, zones, deciding } }) => ({
      candidate,
      settings: {
        policy,
        deciding,
        zones: zones && { ...zones, connectors: { ...zones.connectors, [candidate.door]: 'yellow' as const } },
      },
    }),
    'the kind turns yellow': ({ candidate, settings: { policy, zones, deciding } }) => ({
      candidate,
      settings: {
        policy,
        deciding,
        zones: zones && { ...zones, kinds: { ...zones.kinds, [candidate.kind]: 'yellow' as const } },
      },
    }),
    'the connector turns red': ({ candidate, settings: { policy, zones, deciding } }) => ({
      candidate,
      settings: {
        policy,
        deciding,
        zones: zones && { ...zones, connectors: { ...zones.connectors, [candidate.connector]: 'red' as const } },
      },
    }),
  }

  test.each(Object.keys(stricter))('%s', (name) => {
    fc.assert(
      fc.property(cases, (subject) => {
        const changed = stricter[name]?.(subject) ?? subject
        if (judge(changed.candidate, changed.settings).approve) {
          expect(judge(subject.candidate, subject.settings).approve).toBe(true)
        }
      }),
      { numRuns: runs(1000) },
    )
  })

  test('red, yellow, a target problem or a broken policy never approve, and what approves gives its reason', () => {
    fc.assert(
      fc.property(cases, ({ candidate, settings }) => {
        const verdict = judge(candidate, settings)
        expect(verdict.reason).not.toBe('')
        if (verdict.approve) {
          expect(verdict.zone === null || verdict.zone === 'green').toBe(true)
          expect(candidate.targetProblem).toBeNull()
          expect(candidate.actionZone === 'red' || candidate.actionZone === 'yellow').toBe(false)
          expect(verdict.warnings).toEqual([])
        }
      }),
      { numRuns: runs(1000) },
    )
  })
})

import { expect, test } from 'vitest'
import { readNeuronFields } from '../../../src/markdown/file/neuron-fields.ts'

test.each([{ at: '2026-01-01', until: '2026-02-30' }, { at: '2026-13-01' }, { at: '0000-00-00', until: '2026-11-28' }])(
  'verified %j is left out with a finding, since no answer can say it',
  (verified) => {
    const { fields, findings } = readNeuronFields({ verified })
    expect(fields.verified).toBeUndefined()
    expect(findings).toMatchObject([{ key: 'verified', severity: 'warning' }])
    expect(findings[0]?.message).toContain('must be a day, such as 2026-11-26')
  },
)

test.each([
  [{ verified: { by: 'ann' } }, 'verified at: must be given'],
  [{ verified: { at: ['x'] } }, 'verified at: must be text'],
  [{ verified: { at: '2026-01-01', by: ['ann'] } }, 'verified by: must be text'],
  [{ sources: [{ filename: ['a'] }] }, 'sources, item 1: filename: must be text'],
])('front matter %j is told in words', (data, message) => {
  expect(readNeuronFields(data).findings.map((finding) => finding.message)).toEqual([message])
})

test('a time counts as its day in verified, as other tools write it', () => {
  const { fields, findings } = readNeuronFields({ verified: { at: '2026-01-01T09:00:00Z', until: '2026-02-28 09:00' } })
  expect([fields.verified, findings]).toEqual([{ at: '2026-01-01', until: '2026-02-28' }, []])
})

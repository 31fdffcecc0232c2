import { expect, test } from 'vitest'
import { type Audience, audiencesOf, effectiveAudience, maySee } from '../../../src/rules/access/audience.ts'
import { fc } from '../../support/properties.ts'

const audiences: readonly Audience[] = ['curator', 'tool', 'public', 'student']

test.each([
  ['curator', undefined, 'curator'],
  ['curator', 'curator', 'curator'],
  ['curator', 'public', 'public'],
  ['app', undefined, 'tool'],
  ['app', 'curator', 'tool'],
  ['app', 'student', 'student'],
  ['reader', undefined, 'tool'],
  ['reader', 'curator', 'tool'],
  ['reader', 'public', 'public'],
  ['reader', 'student', 'tool'],
] as const)('a %s that asks for %s is served as %s', (role, asked, served) => {
  expect(effectiveAudience({ role }, asked)).toBe(served)
})

test('a reader key that was made for students may ask for them, and for nothing else', () => {
  const caller = { role: 'reader', audience: 'student' } as const
  expect(audiencesOf(caller)).toEqual(['tool', 'public', 'student'])
  expect(effectiveAudience(caller)).toBe('tool')
  expect(audiencesOf({ role: 'reader' })).toEqual(['tool', 'public'])
  expect(audiencesOf({ role: 'reader', audience: 'public' })).toEqual(['public'])
  expect(effectiveAudience({ role: 'reader', audience: 'public' })).toBe('public')
})

test.each([
  [['tool'], ['curator', 'tool']],
  [['public'], ['curator', 'tool', 'public']],
  [['student'], ['curator', 'student']],
  [
    ['tool', 'student'],
    ['curator', 'tool', 'student'],
  ],
  [['curator'], ['curator']],
  [['partners'], ['curator']],
  [[], ['curator']],
])('a Neuron for %j is seen by %j', (audience, seenBy) => {
  expect(audiences.filter((reader) => maySee(reader, { audience, tags: [] }, ['public']))).toEqual(seenBy)
})

test('a Neuron without an audience has the default one', () => {
  expect(maySee('public', { tags: [] }, ['tool', 'public'])).toBe(true)
  expect(maySee('public', { tags: [] }, ['tool'])).toBe(false)
  expect(maySee('tool', { tags: [] }, [])).toBe(false)
})

test.each(['internal', 'Internal', ' INTERNAL ', 'internal/hr', 'Internal/HR/pay', '#internal', 'internal/'])(
  'the tag %j hides a Neuron from all but curators',
  (tag) => {
    const neuron = { audience: ['tool', 'public', 'student'], tags: ['x', tag] }
    expect(audiences.filter((reader) => maySee(reader, neuron, []))).toEqual(['curator'])
  },
)

test.each(['internally', 'internal-affairs', 'hr/internal', 'not internal', 'internal hr'])(
  'the tag %j hides nothing',
  (tag) => {
    expect(maySee('public', { audience: ['public'], tags: [tag] }, [])).toBe(true)
  },
)

test('whatever an app or reader asks for, it sees nothing that no audience of its own may see', () => {
  const names = fc.subarray(['curator', 'tool', 'public', 'student', 'partners'])
  fc.assert(
    fc.property(
      fc.constantFrom('app' as const, 'reader' as const),
      fc.constantFrom(undefined, ...audiences),
      names,
      fc.subarray(['internal', 'x']),
      (role, asked, audience, tags) => {
        const seen = maySee(effectiveAudience({ role }, asked), { audience, tags }, [])
        const allowed = !tags.includes('internal') && audiencesOf({ role }).some((name) => audience.includes(name))
        if (seen) expect(allowed).toBe(true)
      },
    ),
  )
})

import { describe, expect, test } from 'vitest'
import { ValidationError } from '../../../src/contract/errors.ts'
import { parseMetadata, readMetadata } from '../../../src/rules/candidates/metadata.ts'
import { pathProblem } from '../../../src/rules/paths/portable-path.ts'
import { fc, runs } from '../../support/properties.ts'
import { hostileText } from '../hostile-text.ts'

function messagesOf(act: () => unknown): string[] {
  try {
    act()
  } catch (error) {
    if (error instanceof ValidationError) return error.fieldErrors.metadata ?? []
    throw error
  }
  return []
}

const nested = (depth: number): string => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
const withKeys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]))

describe('parseMetadata', () => {
  test('text is kept byte for byte, an object becomes its JSON', () => {
    expect(parseMetadata('{ "connector": "api" }')).toEqual({
      text: '{ "connector": "api" }',
      data: { connector: 'api' },
    })
    expect(parseMetadata({ connector: 'api' })).toEqual({ text: '{"connector":"api"}', data: { connector: 'api' } })
  })

  test('none is none', () => {
    expect(parseMetadata(null)).toEqual({ text: null, data: {} })
    expect(parseMetadata(undefined)).toEqual({ text: null, data: {} })
  })

  test.each(['', 'x', 'null', '42', '"x"', '[]', '[{}]', '{', '{"a":1}x'])('%j is not a JSON object', (text) => {
    expect(messagesOf(() => parseMetadata(text))).toEqual(['must be a JSON object'])
  })

  test('an array is not a JSON object', () => {
    expect(messagesOf(() => parseMetadata([]))).toEqual(['must be a JSON object'])
  })

  test.each(['__proto__', 'constructor', 'prototype'])(
    'the key %s is refused at any depth, and touches no prototype',
    (key) => {
      const wrap = [(json: string) => json, (json: string) => `{"a":${json}}`, (json: string) => `{"a":[${json}]}`]
      for (const text of wrap.map((around) => around(`{"${key}":{"polluted":true}}`))) {
        expect(messagesOf(() => parseMetadata(text))).toEqual([`must not have the key ${key}`])
        expect(messagesOf(() => parseMetadata(JSON.parse(text)))).toEqual([`must not have the key ${key}`])
      }
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    },
  )

  test('16 KB, 64 keys and depth 5 are the bounds', () => {
    const text = (length: number) => JSON.stringify({ a: 'x'.repeat(length - '{"a":""}'.length) })
    expect(messagesOf(() => parseMetadata(text(16_384)))).toEqual([])
    expect(messagesOf(() => parseMetadata(text(16_385)))).toEqual(['must be at most 16384 bytes'])
    expect(messagesOf(() => parseMetadata(JSON.stringify({ a: '知'.repeat(6000) })))).toEqual([
      'must be at most 16384 bytes',
    ])
    expect(messagesOf(() => parseMetadata({ a: 'x'.repeat(16_384) }))).toEqual(['must be at most 16384 bytes'])
    expect(messagesOf(() => parseMetadata(withKeys(64)))).toEqual([])
    expect(messagesOf(() => parseMetadata(withKeys(65)))).toEqual(['must have at most 64 keys'])
    expect(messagesOf(() => parseMetadata({ a: withKeys(32), b: [withKeys(31)] }))).toEqual([
      'must have at most 64 keys',
    ])
    expect(messagesOf(() => parseMetadata(nested(5)))).toEqual([])
    expect(messagesOf(() => parseMetadata(nested(6)))).toEqual(['must be at most 5 levels deep'])
    expect(messagesOf(() => parseMetadata(`{"a":${'['.repeat(5)}${']'.repeat(5)}}`))).toEqual([
      'must be at most 5 levels deep',
    ])
  })

  test('a thousand brackets, or an object within itself, end in an answer', () => {
    expect(messagesOf(() => parseMetadata(`{"a":${'['.repeat(8000)}${']'.repeat(8000)}}`))).toEqual([
      'must be at most 5 levels deep',
    ])
    const loop: Record<string, unknown> = {}
    loop.loop = loop
    expect(messagesOf(() => parseMetadata(loop))).toEqual(['must be at most 5 levels deep'])
  })

  test.each(['{"a":"\\u0000"}', '{"\\u0000":1}', '{"a":["\\ud800"]}', '{"a":"\ud800"}'])(
    'NUL and half surrogate pairs are refused: %j',
    (text) => {
      expect(messagesOf(() => parseMetadata(text))).toEqual(['must not hold NUL or half a surrogate pair'])
    },
  )

  test('whatever comes in, it is either refused or an object that says what its text says', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), hostileText, fc.object()), (input) => {
        const errors = messagesOf(() => {
          const { text, data } = parseMetadata(input)
          expect(JSON.parse(text ?? 'null')).toEqual(data)
        })
        expect(errors.length).toBeLessThanOrEqual(1)
      }),
    )
  })
})

describe('readMetadata', () => {
  test('reads the known keys', () => {
    const data = {
      connector: 'site-chat',
      sourceUrl: 'https://example.com/vip?x=1',
      targetNeuron: 'handbook_00000042',
      tags: ['policy', ' escalation ', 'policy', ''],
      actionZone: 'red',
      path: 'policies/VIP',
      other: { kept: true },
    }
    expect(readMetadata(data)).toEqual({
      connector: 'site-chat',
      sourceUrl: 'https://example.com/vip?x=1',
      targetNeuron: 'handbook_00000042',
      tags: ['policy', 'escalation'],
      actionZone: 'red',
      path: 'neurons/policies/VIP.md',
    })
  })

  test('absent, null and empty values are none', () => {
    expect(readMetadata({})).toEqual({ tags: [] })
    expect(
      readMetadata({ connector: null, sourceUrl: null, targetNeuron: ' ', tags: null, actionZone: null, path: '' }),
    ).toEqual({ tags: [] })
  })

  test('a connector and a tag are one line', () => {
    expect(readMetadata({ connector: 'lint\n\nApproved-By: root', tags: ['a\u202eb\nc'] })).toEqual({
      connector: 'lint Approved-By: root',
      tags: ['a b c'],
    })
  })

  test('tags may be joined by commas', () => {
    expect(readMetadata({ tags: 'policy, escalation,,policy' }).tags).toEqual(['policy', 'escalation'])
  })

  test.each([
    ['connector', 42],
    ['connector', ['lint']],
    ['connector', 'x'.repeat(101)],
    ['sourceUrl', 42],
    ['targetNeuron', {}],
    ['tags', 42],
    ['tags', [42]],
    ['tags', { 0: 'x' }],
    ['tags', 'x'.repeat(101)],
    ['tags', Array.from({ length: 65 }, (_, n) => `t${n}`)],
    ['actionZone', 'purple'],
    ['actionZone', 'GREEN'],
    ['actionZone', true],
    ['path', 42],
  ])('%s: %j is refused', (key, value) => {
    expect(messagesOf(() => readMetadata({ [key]: value })).join()).toMatch(new RegExp(`^${key}(?: 0)? must `))
  })

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'example.com',
    '//example.com',
    'https://',
    'https://a b',
    'java\nscript:x',
    'https://x/\u202e',
  ])('%j is no address to link to', (sourceUrl) => {
    expect(readMetadata({ sourceUrl })).toEqual({ tags: [] })
  })

  test.each([
    ['neurons/policies/vip.md', 'neurons/policies/vip.md'],
    ['neurons/vip.MD', 'neurons/vip.md'],
    ['../../kb.yaml', 'neurons/kb.yaml.md'],
    ['/etc/passwd', 'neurons/etc/passwd.md'],
    ['.git/config', 'neurons/git/config.md'],
    ['con', 'neurons/con_.md'],
    ['.md', 'neurons/.md.md'],
    ['?', 'neurons/untitled.md'],
  ])('the path %j becomes %s', (path, wish) => {
    expect(readMetadata({ path }).path).toBe(wish)
  })

  test('whatever the path, the wish is a page below neurons/ that is portable', () => {
    fc.assert(
      fc.property(hostileText, (path) => {
        const wish = readMetadata({ path }).path
        if (wish === undefined) return
        expect(wish).toMatch(/^neurons\/.+\.md$/u)
        expect(pathProblem(wish)).toBeUndefined()
      }),
      { numRuns: runs(2000) },
    )
  })
})

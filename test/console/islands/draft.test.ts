import { expect, test } from 'vitest'
import {
  type DraftPlace,
  draftsOf,
  forgetDraft,
  forgetSent,
  type KeptDraft,
  keepDraft,
} from '../../../src/console/islands/draft.ts'

const ada: DraftPlace = ['ada', 'kb', 'handbook_00000001']

function storageOf(entries: Record<string, string> = {}) {
  const kept = new Map(Object.entries(entries))
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    key: (at: number) => [...kept.keys()][at] ?? null,
    get length() {
      return kept.size
    },
  }
}

function draft(changes: Partial<KeptDraft> = {}): KeptDraft {
  return {
    candidate: 'c1',
    base: 'b1',
    fields: [['content', 'x <b> 🙂\r\n']],
    at: '2026-01-01',
    isSent: false,
    ...changes,
  }
}

test('a draft is there again as it was typed, the latest first, until it is forgotten', () => {
  const storage = storageOf()
  keepDraft(storage, ada, draft())
  keepDraft(storage, ada, draft({ candidate: 'c2', at: '2026-01-02', base: 'b2' }))
  keepDraft(storage, ada, draft({ at: '2026-01-03' }))
  expect(draftsOf(storage, ada)).toEqual([
    draft({ at: '2026-01-03' }),
    draft({ candidate: 'c2', at: '2026-01-02', base: 'b2' }),
  ])
  forgetDraft(storage, ada, 'c1')
  expect(draftsOf(storage, ada).map(({ candidate }) => candidate)).toEqual(['c2'])
})

test.each([
  ['another person', ['bob', 'kb', 'handbook_00000001']],
  ['a person whose id begins alike', ['ad', 'kb', 'handbook_00000001']],
  ['another knowledge base', ['ada', 'kb2', 'handbook_00000001']],
  ['another page', ['ada', 'kb', 'handbook_00000002']],
  ['a new page', ['ada', 'kb', '']],
] as const)('%s never sees it', (_, place) => {
  const storage = storageOf()
  keepDraft(storage, ada, draft())
  expect(draftsOf(storage, place)).toEqual([])
})

test('what is no draft is passed over', () => {
  const storage = storageOf({
    theme: 'dark',
    'ganglion-draft:ada:kb:handbook_00000001:x': '{',
    'ganglion-draft:ada:kb:handbook_00000001:y': '{"fields":1}',
  })
  expect(draftsOf(storage, ada)).toEqual([])
})

test('only what was sent and accepted is forgotten', async () => {
  const storage = storageOf({ theme: 'dark' })
  const accepted = new Set(['sent', 'typed-on'])
  keepDraft(storage, ada, draft({ candidate: 'sent', isSent: true }))
  keepDraft(storage, ada, draft({ candidate: 'typed-on' }))
  keepDraft(storage, ada, draft({ candidate: 'lost', isSent: true }))
  await forgetSent(storage, async (candidate) => accepted.has(candidate))
  expect(new Set(draftsOf(storage, ada).map(({ candidate }) => candidate))).toEqual(new Set(['typed-on', 'lost']))
  expect(storage.getItem('theme')).toBe('dark')
})

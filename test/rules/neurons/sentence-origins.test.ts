import { expect, test } from 'vitest'
import { sentenceOrigins } from '../../../src/rules/neurons/sentence-origins.ts'
import { fc, runs } from '../../support/properties.ts'

const edit = fc.record({
  does: fc.constantFrom('add', 'add', 'replace', 'remove', 'move', 'restore'),
  at: fc.nat(40),
  to: fc.nat(40),
})

test('each sentence has the version that brought it, however sentences are added, replaced, moved, removed and restored', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(edit, { maxLength: 6 }), { minLength: 1, maxLength: 12 }), async (history) => {
      let [sentences, count]: [string[], number] = [[], 0]
      const gone: string[] = []
      const versions = history.map((edits, version) => {
        const next = () => `Version ${version} says this as number ${count++}.`
        sentences = [...sentences]
        for (const { does, at, to } of edits) {
          const [from, until] = [at % (sentences.length || 1), to % (sentences.length + 1)]
          if (does === 'add') sentences.splice(until, 0, next())
          else if (does === 'restore') sentences.splice(until, 0, ...gone.splice(at, 1))
          else if (sentences.length === 0) continue
          else if (does === 'move') sentences.splice(until, 0, ...sentences.splice(from, 1))
          else {
            const left = sentences.splice(from, 1, ...(does === 'replace' ? [next()] : []))
            // What no version has had is not restored.
            gone.push(...left.filter((text) => !text.startsWith(`Version ${version} `)))
          }
        }
        return { text: sentences.map((text, at) => text + (at % 3 === 2 ? '\n\n' : ' ')).join(''), isFollowing: false }
      })
      const found = sentenceOrigins(versions, 'en')
      expect(found.map(({ sentence }) => sentence.text)).toEqual(sentences)
      for (const { sentence, origin } of found) expect(sentence.text).toContain(`Version ${origin} says`)
      const passage = sentences.filter((_, at) => at % 4 !== 1).join('\n')
      const within = sentenceOrigins(versions, 'en', passage)
      expect(within).toEqual(found.filter(({ sentence }) => passage.includes(sentence.text)))
    }),
    { numRuns: runs(2_000) },
  )
})

test('a sentence whose links follow a rename keeps its origin, one that another replaces does not', async () => {
  const first = { text: 'See [[Old]]. Stay.', isFollowing: false }
  const second = { text: 'See [[New]]. Stay.' }
  const origins = (isFollowing: boolean) => {
    const versions = [first, { ...second, isFollowing }]
    const found = sentenceOrigins(versions, 'en')
    expect(sentenceOrigins(versions, 'en', second.text)).toEqual(found)
    return found.map(({ origin }) => origin)
  }
  expect(origins(true)).toEqual([0, 0])
  expect(origins(false)).toEqual([1, 0])
})

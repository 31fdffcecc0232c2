import { describe, expect, test } from 'vitest'
import {
  backoff,
  contentRange,
  firstProof,
  nextChunk,
  refusal,
  setbackOf,
  sizeInWords,
  uploadOf,
} from '../../../src/console/islands/upload/upload-plan.ts'
import { fc } from '../../support/properties.ts'

const mb = 1024 * 1024

describe('a file is refused before it is sent', () => {
  test.each([
    [{ name: 'a.exe', size: 1 }, 'Files that end in .exe are not taken here.'],
    [{ name: 'a', size: 1 }, 'Its name has no ending, such as .pdf, that says what it is.'],
    [{ name: 'a.pdf', size: 0 }, 'The file is empty.'],
    [{ name: 'a.pdf', size: 11 * mb }, 'It is larger than 10 MB.'],
    [{ name: 'A.PDF', size: 10 * mb }, undefined],
  ])('%j', (file, reason) => {
    expect(refusal(file, ['pdf', 'md'], 10 * mb)).toBe(reason)
  })
})

test('a file goes on with the open upload of the same name and size, however the name is composed', () => {
  const open = [
    { uploadId: 'a', filename: 'Bücher.pdf', fileSize: 5, bytesReceived: 2 },
    { uploadId: 'b', filename: 'Bücher.pdf', fileSize: 6, bytesReceived: 2 },
  ]
  expect(uploadOf({ name: 'Bücher.pdf'.normalize('NFD'), size: 6 }, open)?.uploadId).toBe('b')
  expect(uploadOf({ name: 'Bücher.pdf', size: 7 }, open)).toBeUndefined()
})

test('chunks follow each other without a gap to the end of the file, whatever the server has', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 * mb }),
      fc.integer({ min: 70_000, max: 8 * mb }),
      fc.nat({ max: 1000 }),
      fc.boolean(),
      (size, chunkSize, share, isResumed) => {
        let received = Math.floor((size * share) / 1000)
        for (let resumed = isResumed; ; resumed = false) {
          const range = nextChunk({ size, chunkSize }, received, resumed)
          if (range === undefined) break
          expect(range.first).toBeLessThanOrEqual(received)
          expect(range.end - range.first).toBeLessThanOrEqual(chunkSize)
          expect(range.end).toBeGreaterThan(received)
          received = range.end
        }
        expect(received).toBe(size)
      },
    ),
  )
})

test('what is resumed is compared first: the beginning of the file, and the last bytes that came', () => {
  expect(firstProof(0)).toBeUndefined()
  expect(firstProof(100)).toEqual({ first: 0, end: 100 })
  expect(firstProof(mb)).toEqual({ first: 0, end: 65_536 })
  expect(nextChunk({ size: 3 * mb, chunkSize: mb }, mb, true)).toEqual({ first: mb - 65_536, end: 2 * mb - 65_536 })
  expect(contentRange({ first: 0, end: 100 }, 300)).toBe('bytes 0-99/300')
})

test('attempts come later and later, at most a minute and a quarter apart, and not before the server says', () => {
  expect([1, 2, 3, 4, 10, 99].map((failures) => backoff(failures, 0.5))).toEqual([
    1000, 2000, 4000, 8000, 60_000, 60_000,
  ])
  expect([backoff(1, 0), backoff(1, 1)]).toEqual([750, 1250])
  expect(backoff(1, 0.5, 30)).toBe(30_000)
})

describe('what an answer means for an upload', () => {
  test.each([
    [0, undefined, { kind: 'again', retryAfter: 0 }],
    [503, { error: 'unavailable' }, { kind: 'again', retryAfter: 0 }],
    [409, { error: 'offset_mismatch', bytesReceived: 7 }, { kind: 'continue', received: 7 }],
    [422, { error: 'incomplete', bytesReceived: 8 }, { kind: 'continue', received: 8 }],
    [401, { error: 'invalid_token' }, { kind: 'stop', canResume: true }],
    [410, { error: 'upload_expired' }, { kind: 'stop', canResume: false }],
    [429, { error: 'too_many_uploads' }, { kind: 'stop', canResume: true }],
    [409, { error: 'chunk_differs', bytesReceived: 1 }, { kind: 'stop', canResume: false }],
    [400, { error: 'x', message: 'A name.' }, { kind: 'stop', message: 'A name.', canResume: false }],
    [500, 'not even JSON', { kind: 'stop', message: 'The server did not take it.', canResume: true }],
  ])('%i %j', (status, body, meaning) => {
    expect(setbackOf(status, body, null)).toMatchObject(meaning)
  })

  test('the server may ask for patience', () => {
    expect(setbackOf(429, { error: 'rate_limited' }, '42')).toEqual({ kind: 'again', retryAfter: 42 })
    expect(setbackOf(429, { error: 'rate_limited' }, 'soon')).toEqual({ kind: 'again', retryAfter: 0 })
  })

  test('bytes that are there already are named by the file that has them', () => {
    const body = { code: 'duplicate_source', existingDocumentId: 'x', existingFilename: 'a.pdf', existingPath: '/hr' }
    expect(setbackOf(409, body, null)).toEqual({ kind: 'duplicate', documentId: 'x', filename: 'a.pdf', path: '/hr' })
  })
})

test.each([
  [0, '0 bytes'],
  [1023, '1023 bytes'],
  [1024, '1 KB'],
  [1536, '1.5 KB'],
  [300 * mb, '300 MB'],
  [2048 * mb, '2 GB'],
])('%i bytes are %s', (bytes, words) => {
  expect(sizeInWords(bytes)).toBe(words)
})

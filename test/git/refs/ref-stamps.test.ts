import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stampRefs } from '../../../src/git/ref-store.ts'
import { tempDir } from '../../support/temp.ts'

const main = 'refs/heads/main'
const old = new Date('2026-01-01T00:00:00Z')

/** A folder whose file `main`, or `packed-refs`, was written long ago. */
function refs(file = main) {
  const dir = tempDir()
  mkdirSync(join(dir, 'refs', 'heads'), { recursive: true })
  const write = (path: string, text: string) => {
    const temporary = join(dir, 'temporary')
    writeFileSync(temporary, text)
    utimesSync(temporary, old, old)
    renameSync(temporary, join(dir, path))
  }
  write(file, 'a'.repeat(40))
  return { dir, write }
}

test('refs that nobody moves are unchanged', () => {
  const { dir } = refs()
  const areUnchanged = stampRefs(dir, [main])
  expect([areUnchanged(), areUnchanged()]).toEqual([true, true])
})

test('a ref that moves is seen, even to a text of the same length and the same time of change', () => {
  const { dir, write } = refs()
  const areUnchanged = stampRefs(dir, [main])
  write(main, 'b'.repeat(40))
  expect(areUnchanged()).toBe(false)
})

test('a ref that was written a moment ago never counts as unchanged', () => {
  const { dir } = refs()
  writeFileSync(join(dir, main), 'b'.repeat(40))
  expect(stampRefs(dir, [main])()).toBe(false)
})

test('a clock that is behind the file system counts as a moment ago', () => {
  const { dir } = refs()
  const future = new Date(Date.now() + 3_600_000)
  utimesSync(join(dir, main), future, future)
  expect(stampRefs(dir, [main])()).toBe(false)
})

test('a packed ref is watched in packed-refs, and as a loose one', () => {
  const { dir, write } = refs('packed-refs')
  const stamp = () => stampRefs(dir, [main])
  const first = stamp()
  expect(first()).toBe(true)
  write('packed-refs', 'b'.repeat(40))
  expect(first()).toBe(false)
  const second = stamp()
  write(main, 'c'.repeat(40))
  expect(second()).toBe(false)
  const third = stamp()
  rmSync(join(dir, main))
  expect(third()).toBe(false)
})

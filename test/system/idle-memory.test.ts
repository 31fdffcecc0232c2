import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const file = new URL('../../src/system/idle-memory.ts', import.meta.url).href
/** V8 waits for 30 and 8 seconds by itself. */
const soon = ['--gc-memory-reducer-start-delay-ms=200', '--memory-reducer-delay-ms=200']
/** Milliseconds. By itself V8 waits for 100 seconds. */
const patience = 20_000

/** A process that makes garbage, and prints megabytes of its heap: first with it, and last when less than 20 or out of patience. */
const program = `
  import { giveMemoryBackWhenIdle } from '${file}'
  giveMemoryBackWhenIdle()
  const heap = () => Math.round(process.memoryUsage().heapTotal / 1024 ** 2)
  let kept = Array.from({ length: 300_000 }, (_, index) => ({ index, text: index + ' of many' }))
  const before = heap()
  kept = undefined
  const end = performance.now() + ${patience}
  const timer = setInterval(() => {
    if (heap() >= 20 && performance.now() < end) return
    clearInterval(timer)
    console.log(JSON.stringify({ before, after: heap() }))
    process.exit()
  }, 100)
`

test('a thread gives the memory of its garbage back when it has nothing to do', async () => {
  const { stdout } = await run(process.execPath, [...soon, '--input-type=module', '--eval', program])
  const { before, after } = JSON.parse(stdout)
  expect(before).toBeGreaterThan(30)
  expect(after).toBeLessThan(20)
})

import { expect, test } from 'vitest'
import { type Ending, runConfined } from '../../../../src/sources/extract/confined/confined-process.ts'
import { defaultLimits, type ExtractLimits } from '../../../../src/sources/extract/extract-limits.ts'
import type { OnProgress } from '../../../../src/sources/extracted.ts'

const hang = 'setInterval(() => undefined, 1000);'

function run(
  code: string,
  limits: Partial<ExtractLimits> = {},
  signal?: AbortSignal,
  onProgress?: OnProgress,
): Promise<Ending> {
  return runConfined({
    args: ['-e', code],
    input: 'question\n',
    scratch: undefined,
    limits: { ...defaultLimits, ...limits },
    signal,
    onProgress,
  })
}

async function outputOf(code: string): Promise<string> {
  const ending = await run(`const write = (text) => require('node:fs').writeSync(3, String(text));${code}`)
  return ending.kind === 'ended' ? ending.output.toString() : ending.limit
}

test('what is written to descriptor 3 is the output, and what is printed is not', async () => {
  expect(
    await outputOf("console.log('noise'); process.stdin.once('data', (text) => { write(text); process.exit() })"),
  ).toBe('question\n')
})

test('what is written to descriptor 4 is its progress, where it is one', async () => {
  const told: string[] = []
  const lines = ['1 4', '5 4', 'x', `${'9'.repeat(100_000)} 1`, '-1 4', '3 4']
  const code = `const { writeSync } = require('node:fs')
    for (const line of ${JSON.stringify(lines)}) { writeSync(4, line + '\\n'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50) }
    process.exit()`
  await run(code, {}, undefined, (done, total) => told.push(`${done} of ${total}`))
  expect(told).toEqual(['1 of 4', '3 of 4'])
})

test('of the environment it knows only the time zone', async () => {
  const names = await outputOf('write(Object.keys(process.env)); process.exit()')
  // A shell adds where it is.
  expect(
    names.split(',').filter((name) => !/^(?:PWD|OLDPWD|SHLVL|_|SystemRoot|__CF_USER_TEXT_ENCODING)$/.test(name)),
  ).toEqual(['TZ'])
})

test.each<[string, keyof ExtractLimits, number, string]>([
  ['computes for too long', 'cpuTime', 200, 'for (;;);'],
  ['waits for too long', 'wallTime', 1_000, hang],
  ['takes too much memory', 'memory', 150 * 2 ** 20, `globalThis.kept = Buffer.alloc(200 * 2 ** 20, 1); ${hang}`],
  ['answers too much', 'output', 1000, "require('node:fs').writeSync(3, 'x'.repeat(2000)); for (;;);"],
])('it is ended when it %s', async (_, limit, value, code) => {
  expect(await run(code, { [limit]: value })).toEqual({ kind: 'exceeded', limit })
})

test('while it waits for a processor its time does not count, within bounds', async () => {
  const limits = { ...defaultLimits, wallTime: 50 }
  const usageOf = async () => ({ memory: 0, cpuTime: 0, waited: 60_000 })
  const starving = { args: ['-e', hang], input: '', scratch: undefined, limits, signal: undefined, usageOf }
  const start = performance.now()
  expect(await runConfined(starving)).toEqual({ kind: 'exceeded', limit: 'starved' })
  expect(performance.now() - start).toBeGreaterThan(250)
})

test('how it ended by itself is told, with the beginning of what it complained of', async () => {
  const ending = await run("console.error('x'.repeat(1e6)); process.kill(process.pid, 'SIGSEGV'); for (;;);")
  expect(ending).toMatchObject({ kind: 'ended', exit: 'SIGSEGV' })
  expect(ending.kind === 'ended' && ending.errors.length).toBeLessThanOrEqual(16 * 1024)
})

test('the signal ends it', async () => {
  const controller = new AbortController()
  const running = run(hang, {}, controller.signal)
  controller.abort(new Error('enough'))
  await expect(running).rejects.toThrow('enough')
  await expect(run(hang, {}, controller.signal)).rejects.toThrow('enough')
})

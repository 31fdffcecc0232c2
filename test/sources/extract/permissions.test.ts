import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runConfined } from '../../../src/sources/extract/confined/confined-process.ts'
import { permissionFlags } from '../../../src/sources/extract/extract.ts'
import { defaultLimits } from '../../../src/sources/extract/extract-limits.ts'
import { tempDir } from '../../support/temp.ts'

const input = fileURLToPath(import.meta.url)
const neighbour = fileURLToPath(new URL('./conformance.ts', import.meta.url))

/** Returns the value of an expression, or the code of its error, in a process that may read this file. */
async function tried(expression: string): Promise<string> {
  const scratch = tempDir()
  const flags = permissionFlags({ file: input, transcriber: undefined }, {}, scratch)
  const code = `
    const fs = require('node:fs')
    const say = (text) => { fs.writeSync(3, String(text)); process.exit() }
    const run = async () => ${expression}
    run().then(() => say('done'), (error) => say(error.code ?? error.cause?.code))`
  const ending = await runConfined({
    args: [...flags, '-e', code],
    input: '',
    scratch,
    limits: defaultLimits,
    signal: undefined,
  })
  return ending.kind === 'ended' ? ending.output.toString() : ending.limit
}

test.each<[string, string, string]>([
  ['its input may be read', `fs.readFileSync(${JSON.stringify(input)})`, 'done'],
  ['its neighbour may not', `fs.readFileSync(${JSON.stringify(neighbour)})`, 'ERR_ACCESS_DENIED'],
  ['its input may not be written', `fs.appendFileSync(${JSON.stringify(input)}, '')`, 'ERR_ACCESS_DENIED'],
  ['its own folder for temporary files may', "fs.writeFileSync(require('node:os').tmpdir() + '/x', 'x')", 'done'],
  ['another may not', "fs.writeFileSync('/tmp/ganglion-elsewhere', 'x')", 'ERR_ACCESS_DENIED'],
  ['no program may be started', "require('node:child_process').spawnSync('true')", 'ERR_ACCESS_DENIED'],
  ['no thread may be started', "new (require('node:worker_threads').Worker)('1', { eval: true })", 'ERR_ACCESS_DENIED'],
  ['no host may be asked', "require('node:dns').promises.lookup('localhost')", 'ERR_ACCESS_DENIED'],
  [
    'no connection may be made',
    "new Promise((_, reject) => require('node:net').connect(9, '127.0.0.1').on('error', reject))",
    'ERR_ACCESS_DENIED',
  ],
])('%s', async (_, expression, outcome) => {
  expect(await tried(expression)).toBe(outcome)
})

import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../../../test/support/temp.ts'
import { newContractKeys, startContractServer } from './support/contract-deployment.ts'

const document = readFileSync('packages/contract-suite/README.md', 'utf8')
const blocksOf = (language: string) =>
  [...document.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, block = '']) => block)

test('the examples work as the document has them', async () => {
  const folder = tempDir()
  const program = join(import.meta.dirname, '../src/bin.js')
  writeFileSync(join(folder, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${program}' "$@"\n`)
  chmodSync(join(folder, 'npx'), 0o755)
  const [dataDir, work] = [join(tempDir(), 'data'), tempDir()]
  const keys = await newContractKeys(dataDir, 'scratch')
  const url = await startContractServer(dataDir)
  const run = (block: string) => {
    const env = { ...process.env, ...keys, PATH: `${folder}${delimiter}${process.env.PATH}` }
    const text = block.replaceAll('https://kb.example.com', url)
    return new Promise<{ code: unknown; stdout: string }>((done) => {
      execFile('bash', ['-eu', '-c', text], { cwd: work, env }, (error, stdout) =>
        done({ code: error?.code ?? 0, stdout }),
      )
    })
  }
  const [first = '', differing = '', own = '', ...others] = blocksOf('sh')
  expect(others).toEqual([])

  // The keys are those of the server, and one area is enough.
  const short = first.replaceAll(/^export .*\n/gm, '').replace('--kb scratch', '--kb scratch policy')
  expect(await run(short)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('✓ policy/confident  A candidate whose'),
  })

  expect(await run(differing)).toMatchObject({ code: 1, stdout: expect.stringContaining('! search/prefix') })

  const [scenario = ''] = blocksOf('yaml')
  mkdirSync(join(work, 'cases'))
  writeFileSync(join(work, 'cases/opening.yaml'), scenario)
  expect(await run(own)).toMatchObject({ code: 0, stdout: expect.stringContaining('✓ opening/found') })
})

import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { nativeGit } from '../../git/support/native-git.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { listening } from '../../support/listening.ts'
import { startNode } from '../../support/process.ts'
import { tempDir } from '../../support/temp.ts'
import { ganglion, ganglionJson, main as program, serve } from '../support.ts'

const main = 'refs/heads/main'

function wiki(files: Record<string, string>): string {
  const dir = join(tempDir(), 'Team Wiki')
  nativeGit(tempDir(), ['init', '--quiet', '--bare', '--initial-branch=main', dir])
  const native = new NativeWriter(dir)
  const empty = native.git('hash-object', '-t', 'tree', '-w', '/dev/null')
  native.git('update-ref', main, native.git('commit-tree', empty, '-m', 'Begin'))
  native.commit(main, new Map(Object.entries(files)))
  return dir
}

test('a repository becomes a knowledge base of a new data directory, and the only tenant needs no name', async () => {
  const data = join(tempDir(), 'data')
  const adopt = (source: string, ...more: string[]) => ganglion(['kb', 'adopt', source, '--data', data, ...more])
  const source = wiki({ 'Home.md': '# Home\n' })
  expect(await adopt(source)).toMatchObject({
    code: 1,
    stderr: 'error: Say whose knowledge base it is: --tenant <slug>.\n',
  })
  const { code, stdout, stderr } = await adopt(source, '--tenant', 'acme')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^Adopted the history as team-wiki \(\S{36}\) of acme, with 1 Neuron:\n\/\S+\.git\n$/)
  expect(await ganglionJson(['kb', 'adopt', source, '--slug', 'guide', '--data', data])).toMatchObject({
    code: 0,
    json: { slug: 'guide', prefix: 'guide', tenant: 'acme', isMirror: false, neurons: 1 },
  })
  const wrong = wiki({ 'a.md': '---\na: [\n---\n', 'b.md': '---\nseqId: x_00000001\n---\n' })
  const refused = await adopt(wrong, '--slug', 'wrong')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(
    /^error: \S+ .*Correct it there, and adopt it again:\nneurons\/a\.md:\d+: .*\nneurons\/b\.md:1: /,
  )
  expect((await ganglionJson(['verify', '--data', data])).code).toBe(0)
})

test('an adoption that is killed leaves no knowledge base, and the next start of a server clears it away', async () => {
  const data = tempDir()
  const isAsked = Promise.withResolvers<void>()
  const silent = createServer(() => isAsked.resolve())
  const url = await listening(silent)
  onTestFinished(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const child = startNode([program, 'kb', 'adopt', `${url}/wiki.git`, '--tenant', 'acme', '--data', data])
  await isAsked.promise
  expect(readdirSync(join(data, 'tmp/incoming'))).toHaveLength(1)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect((await ganglionJson(['kb', 'list', '--data', data])).json).toEqual({ knowledgeBases: [] })
  expect(readdirSync(join(data, 'repos'))).toEqual([])
  // The lock ended with its process.
  expect((await ganglion(['kb', 'adopt', wiki({ 'a.md': '# A\n' }), '--tenant', 'acme', '--data', data])).code).toBe(0)
  const server = await serve(data)
  expect(readdirSync(join(data, 'tmp/incoming'))).toEqual([])
  server.child.kill()
  await once(server.child, 'exit')
})

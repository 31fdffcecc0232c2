import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  contract,
  newContractKeys,
  startContractServer,
} from '../../../packages/contract-suite/test/support/contract-deployment.ts'
import { freePort } from '../../support/free-port.ts'
import { newEnvironment } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'
import { startLoadBalancer } from '../support/load-balancer.ts'

const prefix = '/kb'

test('nodes of a cluster keep the contract behind nginx, below a path', { timeout: 10 * 60_000 }, async () => {
  const shared = await newEnvironment()
  const keys = await newContractKeys(join(tempDir(), 'data'), 'handbook', shared)
  const [port, one, two] = [await freePort(), await freePort(), await freePort()]
  for (const own of [one, two]) {
    const env = { ...shared, GANGLION_PUBLIC_URL: `http://127.0.0.1:${port}${prefix}`, GANGLION_PORT: String(own) }
    await startContractServer(join(tempDir(), 'data'), env)
  }
  const change = (text: string) => text.replace('location / {', `location ${prefix}/ {`)
  const url = await startLoadBalancer('nginx', [one, two, two], change, port)
  const { code, stdout } = await contract(['--url', url + prefix, '--level', 'ganglion'], keys)
  expect(stdout.split('\n').filter((line) => line !== '' && !line.startsWith('✓'))).toEqual([
    expect.stringMatching(/^\d+ passed, 0 failed, 0 expected to fail, 0 skipped$/),
    expect.stringMatching(/^Left on the server: \d+ candidates\.$/),
  ])
  expect(code).toBe(0)
})

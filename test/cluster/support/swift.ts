import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { AwsClient } from 'aws4fetch'
import type { S3Options } from '../../../src/state/s3/s3-bucket.ts'
import { freePort } from '../../support/free-port.ts'

const execute = promisify(execFile)

const account = 'ganglion'
const user = 'node'
const secret = 'secret-of-the-store'
const services = ['account', 'container', 'object'] as const

/** An object store that tests start and end: OpenStack Swift from Debian's packages, with its S3 interface, in a temporary folder. */
export class Swift {
  readonly endpoint: string
  readonly #folder: string
  readonly #processes: ChildProcess[]

  private constructor(folder: string, port: number, processes: ChildProcess[]) {
    this.#folder = folder
    this.endpoint = `http://127.0.0.1:${port}`
    this.#processes = processes
  }

  /** Makes a bucket. @returns what a client of S3 needs to use it */
  async bucket(name: string): Promise<S3Options> {
    const access = { accessKeyId: `${account}:${user}`, secretAccessKey: secret, region: 'us-east-1' }
    const answer = await new AwsClient({ ...access, service: 's3' }).fetch(`${this.endpoint}/${name}`, {
      method: 'PUT',
    })
    if (!answer.ok) throw new Error(`The bucket ${name} was not made: ${answer.status}`)
    return { ...access, endpoint: this.endpoint, bucket: name, prefix: '' }
  }

  static async start(): Promise<Swift> {
    const folder = mkdtempSync(join(tmpdir(), 'ganglion-swift-'))
    const etc = join(folder, 'etc')
    for (const path of [etc, join(folder, 'disks', 'one')]) mkdirSync(path, { recursive: true })
    writeFileSync(join(etc, 'swift.conf'), swiftSettings)
    const port = await freePort()
    writeFileSync(join(etc, 'proxy.conf'), proxySettings(etc, port))
    for (const service of services) await prepare(folder, service, await freePort())
    const names = [...services, 'proxy']
    const processes = names.map((name) => {
      const options = { env: { ...process.env, SWIFT_DIR: etc }, stdio: 'ignore' } as const
      return spawn(`swift-${name}-server`, [join(etc, `${name}.conf`)], options)
    })
    const swift = new Swift(folder, port, processes)
    while (!(await swift.#answers())) {
      if (processes.some(({ exitCode }) => exitCode !== null)) throw new Error('Swift did not start.')
      await delay(50)
    }
    return swift
  }

  async remove(): Promise<void> {
    for (const child of this.#processes) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  async #answers(): Promise<boolean> {
    const answer = await fetch(this.endpoint).catch(() => undefined)
    await answer?.arrayBuffer()
    return answer !== undefined
  }
}

/** One ring with one copy on one disk, and the settings of the server that it leads to. */
async function prepare(folder: string, service: (typeof services)[number], port: number): Promise<void> {
  const etc = join(folder, 'etc')
  const build = (...args: string[]) => execute('swift-ring-builder', [join(etc, `${service}.builder`), ...args])
  await build('create', '4', '1', '1')
  await build('add', `r1z1-127.0.0.1:${port}/one`, '1')
  await build('rebalance')
  writeFileSync(
    join(etc, `${service}.conf`),
    `[DEFAULT]
swift_dir = ${etc}
devices = ${join(folder, 'disks')}
mount_check = false
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = root
[pipeline:main]
pipeline = ${service}-server
[app:${service}-server]
use = egg:swift#${service}
`,
  )
}

const swiftSettings = `[swift-hash]
swift_hash_path_prefix = tests
swift_hash_path_suffix = tests
[storage-policy:0]
name = one
default = yes
`

// Signatures of S3 need no memcached, though the filter that checks them does not start without its client.
const proxySettings = (etc: string, port: number) => `[DEFAULT]
swift_dir = ${etc}
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = root
[pipeline:main]
pipeline = catch_errors cache s3api tempauth slo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_${account}_${user} = ${secret} .admin
[filter:slo]
use = egg:swift#slo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
`

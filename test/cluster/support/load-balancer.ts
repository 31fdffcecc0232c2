import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { tempDir } from '../../support/temp.ts'

export type LoadBalancer = 'haproxy' | 'nginx'

const exampleOf = { haproxy: 'haproxy.cfg', nginx: 'nginx.conf' }

/**
 * Starts a load balancer from Debian's packages with the example of `deploy`, for the running test.
 * @param nodes ports of the three nodes
 * @param change of the example's text
 * @param port where it listens; without it, at any free port
 * @returns its address
 */
export async function startLoadBalancer(
  program: LoadBalancer,
  nodes: readonly number[],
  change = (text: string) => text,
  port?: number,
): Promise<string> {
  const folder = tempDir()
  const listening = port ?? (await freePort())
  const example = fileURLToPath(new URL(`../../../deploy/${exampleOf[program]}`, import.meta.url))
  const placed = nodes.reduce(
    (text, node, index) => text.replaceAll(`node${index + 1}:4870`, `127.0.0.1:${node}`),
    readFileSync(example, 'utf8').replace(/(bind :|listen )8080/, `$1${listening}`),
  )
  const file = join(folder, 'settings')
  writeFileSync(file, change(placed))
  const args = { haproxy: ['-f', file, '-db'], nginx: ['-c', file, '-p', folder, '-g', nginxSettings(folder)] }
  const child = spawn(program, args[program], {
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onTestFinished(async () => {
    if (child.exitCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
  })
  const url = `http://127.0.0.1:${listening}`
  while (await fetch(url).then(discard, () => true)) {
    if (child.exitCode !== null) throw new Error(`${program} did not start.`)
    await delay(20)
  }
  return url
}

/** Returns settings for the foreground, without files outside of its folder. */
function nginxSettings(folder: string): string {
  return `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;`
}

async function discard(answer: Response): Promise<boolean> {
  await answer.arrayBuffer()
  return false
}

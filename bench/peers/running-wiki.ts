import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../test/support/free-port.ts'
import { workFolder } from '../support/measure.ts'
import { costOfEnded, treeCost, treeMemory } from '../support/process-tree.ts'
import type { Page } from './pages.ts'
import type { Send, Wiki } from './wikis.ts'

/** Requests of a job, at least. */
const fewest = 5
/** A server is quiet that takes no more than 10 ms of CPU in a period of so many milliseconds, or after that many periods. */
const quietMs = 250
const quietPeriods = 12

/** Process groups of everything that was started. */
const groups = new Set<number>()

function killGroup(pid: number): void {
  groups.delete(pid)
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {} // all of it has ended
}

/** Ends what was started when this process ends, also by a signal, before its folders are removed. */
export function endWithThisProcess(): void {
  process.prependListener('exit', () => groups.forEach(killGroup))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
}

function start(folder: string, [command, ...args]: Wiki['serve'], env: Wiki['env']) {
  const log = openSync(join(folder, 'log'), 'a')
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const { pid = 0 } = child
  groups.add(pid)
  return { child, pid, ended: once(child, 'exit') }
}

/** Makes the wiki in a work folder and loads the pages. `loading`: cost until all is searchable. */
export async function loadWiki(make: (folder: string, port: number) => Wiki, pages: readonly Page[]) {
  const [folder, port] = [workFolder(), await freePort()]
  const wiki = make(folder, port)
  const run = async (script: string) => {
    const { pid, ended } = start(folder, ['sh', '-c', script], wiki.env)
    const [code] = await ended
    killGroup(pid)
    if (code !== 0) throw new Error(`${wiki.name}: ${readFileSync(join(folder, 'log'), 'utf8').slice(-2_000)}`)
  }
  mkdirSync(join(folder, 'pages'))
  for (const page of pages) {
    const [name, text] = wiki.file(page, page.write(wiki.markup))
    writeFileSync(join(folder, 'pages', name), text)
  }
  await run(wiki.prepare)
  const before = costOfEnded()
  await run(wiki.load)
  const after = costOfEnded()
  await wiki.afterLoad?.()
  const serve = () => serveWiki(wiki, folder, port, pages)
  // Ganglion builds its search index when it is served for the first time.
  const { starting, stop } = await serve()
  await stop()
  const loading = {
    cpu: after.cpu - before.cpu + starting.settled.cpu,
    written: after.written - before.written + starting.settled.written,
  }
  return { wiki, loading, serve }
}

/** Starts the server. `starting`: CPU until a page is served, and cost until nothing is left to do. */
async function serveWiki(wiki: Wiki, folder: string, port: number, [page]: readonly Page[]) {
  const { child, pid, ended } = start(folder, wiki.serve, wiki.env)
  const send: Send = async ({ path, headers = {}, body }) => {
    const post = body === undefined ? {} : { method: 'POST', body }
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { ...post, headers, redirect: 'manual' })
    return { status: answer.status, body: await answer.text() }
  }
  /** Returns the cost since the server's start, when nothing is left to do. */
  const untilQuiet = async () => {
    let before = treeCost(pid)
    for (let period = 0; period < quietPeriods; period++) {
      await delay(quietMs)
      const now = treeCost(pid)
      if (now.cpu - before.cpu <= 10) return now
      before = now
    }
    return before
  }
  /** Returns the cost of some work, with what the server does after its answers. */
  const measure = async <Result>(work: () => Promise<Result>) => {
    const before = treeCost(pid)
    const result = await work()
    const after = await untilQuiet()
    return { result, cpu: after.cpu - before.cpu, written: after.written - before.written }
  }
  while (page !== undefined && (await send(wiki.html(page)).catch(() => undefined))?.status !== 200) {
    if (child.exitCode !== null) throw new Error(`${wiki.name}: ${readFileSync(join(folder, 'log'), 'utf8')}`)
    await delay(20)
  }
  const served = treeCost(pid).cpu
  await wiki.logIn?.(send)
  while ((await send(wiki.search('anything'))).status !== 200) await delay(quietMs)
  return {
    send,
    starting: { served, settled: await untilQuiet() },
    memory: () => treeMemory(pid),
    measure,
    /** Returns the cost of an operation. Operations end after `budget` milliseconds of CPU, which the kernel counts in steps of 10 ms. */
    async cost(most: number, budget: number, work: (n: number) => Promise<unknown>) {
      const end = treeCost(pid).cpu + budget
      const { result, cpu, written } = await measure(async () => {
        let count = 0
        while (count < most && (count < fewest || treeCost(pid).cpu < end)) await work(count++)
        return count
      })
      return { cpu: cpu / result, written: written / result }
    },
    async stop() {
      child.kill('SIGTERM')
      await Promise.race([ended, delay(10_000)])
      killGroup(pid)
    },
  }
}

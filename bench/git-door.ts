import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildServer } from '../src/http/server.ts'
import { noteAim } from './support/aims.ts'
import { serveBareGit } from './support/bare-git-server.ts'
import { importNotes } from './support/imported-notes.ts'
import { durableGit, inTurn, show, type Timing, workFolder } from './support/measure.ts'

const neurons = 10_000
const run = promisify(execFile)

/**
 * Clones of a knowledge base over HTTP against `file://` of the same repository, and a push of one edit, judged and taken, against a push
 * of the same edit to a bare repository that git itself serves.
 */
export async function benchGitDoor(): Promise<string[]> {
  const { ctx, tenantId, gitDir } = await importNotes(neurons)
  durableGit(gitDir, ['repack', '-adq', '--write-bitmap-index'])
  const key = { tenantId, name: 'Bench', role: 'curator', connectors: [], expiresAt: null } as const
  const { token } = await ctx.apiKeys.create({ ...key, connectors: [] }, new Date())
  const server = await buildServer(ctx, { rateReads: 100_000, rateWrites: 100_000 })
  const http = (await server.listen({ host: '127.0.0.1', port: 0 })).replace('://', `://any:${token}@`)
  const urls = { file: `file://${gitDir}`, http: `${http}/git/bench/bench.git` }
  const git = (cwd: string, ...args: string[]) =>
    run('git', ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com', ...args], { cwd, maxBuffer: 1 << 28 })
  const timed = async (work: () => Promise<unknown>) => {
    const begin = performance.now()
    await work()
    return performance.now() - begin
  }
  const folder = workFolder()
  let clones = 0
  const clone = (url: string, ...options: string[]) =>
    timed(() => git(folder, 'clone', '--quiet', '--bare', ...options, url, `clone-${clones++}.git`))

  const desk = join(folder, 'desk')
  await git(folder, 'clone', '--quiet', urls.http, desk)
  await git(folder, 'clone', '--quiet', '--bare', urls.file, 'bare.git')
  await git(folder, '--git-dir=bare.git', 'config', 'core.fsync', 'all')
  const bareServer = await serveBareGit(folder)
  await git(desk, 'remote', 'add', 'bare', `${bareServer.url}/bare.git`)
  const { stdout } = await git(desk, 'ls-files', 'neurons')
  const pages = stdout.split('\n')
  let edits = 0
  const times = await inTurn(9, {
    file: () => clone(urls.file),
    http: () => clone(urls.http),
    shallowFile: () => clone(urls.file, '--depth=1'),
    shallowHttp: () => clone(urls.http, '--depth=1'),
    push: async () => {
      writeFileSync(join(desk, pages[edits] ?? ''), `\nEdit ${edits++}.\n`, { flag: 'a' })
      await git(desk, 'commit', '--quiet', '--all', '-m', 'Edit')
      return timed(() => git(desk, 'push', '--quiet', 'origin', 'main'))
    },
    barePush: async () => {
      const time = await timed(() => git(desk, 'push', '--quiet', 'bare', 'main'))
      await git(desk, 'pull', '--quiet', 'origin', 'main')
      await git(desk, 'push', '--quiet', 'bare', 'main') // so that the next edit is all that is new to it
      return time
    },
  })
  bareServer.stop()
  await server.close()
  await ctx.close()
  const row = (name: string, floor: Timing, ours: Timing, atMost: number, unit: `× ${string}`) => {
    const ratio = ours.median / floor.median
    const aim = noteAim(`${name} over HTTP`, ratio, { atMost }, unit)
    return `| ${name} | ${show(floor)} | ${show(ours)} | ${ratio.toFixed(2)}× | ${aim} |`
  }
  return [
    `| ${neurons} Neurons, milliseconds: median (min–max) | git alone | over HTTP | ratio | aim |`,
    '|---|---|---|---|---|',
    row('clone', times.file, times.http, 1.08, '× `file://`'),
    row('clone `--depth=1`', times.shallowFile, times.shallowHttp, 1.08, '× `file://`'),
    row('push of one edit, judged and merged with its candidate', times.barePush, times.push, 1.6, '× a bare server'),
  ]
}

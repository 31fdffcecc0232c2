import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildServer } from '../src/http/server.ts'
import { noteAim } from './support/aims.ts'
import { importNotes } from './support/imported-notes.ts'
import { durableGit, inTurn, show, type Timing, workFolder } from './support/measure.ts'

const neurons = 10_000
const run = promisify(execFile)

/** Clones of a knowledge base over HTTP against `file://` of the same repository, and a push of one edit, judged and taken. */
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
      const time = await timed(() => git(desk, 'push', '--quiet', 'origin', 'main'))
      await git(desk, 'pull', '--quiet')
      return time
    },
  })
  await server.close()
  await ctx.close()
  const row = (name: string, file: Timing, over: Timing) => {
    const ratio = over.median / file.median
    const aim = noteAim(`${name} over HTTP / \`file://\``, ratio, { atMost: 1.08 }, '×')
    return `| ${name} | ${show(file)} | ${show(over)} | ${ratio.toFixed(2)}× | ${aim} |`
  }
  const pushAim = noteAim('push of one edit over HTTP', times.push.median, { atMost: 60 }, 'ms')
  return [
    `| ${neurons} Neurons, milliseconds: median (min–max) | \`file://\` | HTTP | ratio | aim |`,
    '|---|---|---|---|---|',
    row('clone', times.file, times.http),
    row('clone `--depth=1`', times.shallowFile, times.shallowHttp),
    '',
    `Push of one edit over HTTP, judged and merged with its candidate: ${show(times.push)} ms, aim ${pushAim}.`,
  ]
}

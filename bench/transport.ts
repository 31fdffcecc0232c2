import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import fs, { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import git from 'isomorphic-git'
import http from 'isomorphic-git/http/node'
import { missingObjects } from '../src/git/history/reachable.ts'
import { encodePack } from '../src/git/objects/pack-writer.ts'
import { Repository } from '../src/git/repository.ts'
import { withQuarantine } from '../src/git/transport/quarantine.ts'
import { fetchPack, pushToRemote } from '../src/git/transport/remote.ts'
import { packLimits } from '../src/push/git/git-transfers.ts'
import { serveBareGit } from './support/bare-git-server.ts'
import { importNotes } from './support/imported-notes.ts'
import { durableGit, inTurn, milliseconds, show, type Timing, workFolder } from './support/measure.ts'

const neurons = 10_000
const branches = 50
const run = promisify(execFile)
const fetchOnce = fileURLToPath(new URL('./support/fetch-once.ts', import.meta.url))

/**
 * Measures what a link to a forge transfers over HTTP, in process, against native git's own client and isomorphic-git, with native git at
 * the other end.
 */
export async function benchTransport(): Promise<string[]> {
  const { ctx, gitDir } = await importNotes(neurons)
  await ctx.close()
  const main = durableGit(gitDir, ['rev-parse', 'main'])
  durableGit(gitDir, ['fast-import', '--quiet', '--force'], branchStream())
  const names = Array.from({ length: branches }, (_, n) => `refs/heads/bench/${n}`)
  const heads = durableGit(gitDir, ['rev-parse', ...names]).split('\n')
  const root = workFolder()
  const { url, stop } = await serveBareGit(root)
  const repository = new Repository(gitDir)
  let made = 0
  const bare = () => {
    const name = `remote-${made++}.git`
    durableGit(root, ['init', '--quiet', '--bare', name])
    durableGit(join(root, name), ['config', 'http.receivepack', 'true'])
    return { name, url: `${url}/${name}`, dir: join(root, name) }
  }
  const access = (remote: string) => ({ url: remote, username: 'bench', password: 'bench' })
  const ours = async (remote: string, updates: { ref: string; to: string }[], haves: string[]) => {
    const wants = updates.map(({ to }) => to)
    const { pack } = await encodePack(await missingObjects(repository, wants, haves))
    const refused = await pushToRemote(
      access(remote),
      updates.map((update) => ({ ...update, from: undefined })),
      pack,
    )
    if (refused.size > 0) throw new Error([...refused.values()].join())
  }
  const native = (dir: string, ...args: string[]) => run('git', args, { cwd: dir, maxBuffer: 1 << 28 })
  const onFresh = (work: (remote: { url: string; dir: string }) => Promise<unknown>) => async () => {
    const remote = bare()
    const time = await milliseconds(() => work(remote))
    rmSync(remote.dir, { recursive: true })
    return time
  }
  const full = bare()
  await native(gitDir, 'push', '--quiet', full.url, 'main')
  const onFull = (work: () => Promise<unknown>) => async () => {
    const time = await milliseconds(work)
    durableGit(full.dir, ['update-ref', '--stdin'], names.map((name) => `delete ${name}\n`).join(''))
    return time
  }
  const [newest = ''] = names
  const updates = names.map((ref, n) => ({ ref, to: heads[n] ?? '' }))
  const times = await inTurn(5, {
    first: onFresh((remote) => ours(remote.url, [{ ref: 'refs/heads/main', to: main }], [])),
    firstGit: onFresh((remote) => native(gitDir, 'push', '--quiet', remote.url, 'main')),
    branches: onFull(() => ours(full.url, updates, [main])),
    branchesGit: onFull(() => native(gitDir, 'push', '--quiet', full.url, ...names)),
    branch: onFull(() => ours(full.url, updates.slice(0, 1), [main])),
    branchGit: onFull(() => native(gitDir, 'push', '--quiet', full.url, newest)),
    branchIso: onFull(() => git.push({ fs, http, gitdir: gitDir, url: full.url, ref: newest, remoteRef: newest })),
    fetch: onFresh(({ dir }) =>
      withQuarantine(dir, fetchPack(access(full.url), { wants: [main], haves: [] }), packLimits, async (quarantine) => {
        await (await quarantine.admit())()
      }),
    ),
    fetchGit: onFresh(({ dir }) => native(dir, 'fetch', '--quiet', full.url, 'main')),
  })
  const large = bare()
  const commit = writePack(large.dir)
  const kept = [
    { what: 'A fetch of a pack of 60 MB', ...(await memoryOf(large.url, commit, () => emptyRepository())) },
    { what: 'A commit of that pack', ...(await memoryOf('', commit, () => large.dir)) },
  ]
  repository.close()
  stop()
  const row = (what: string, mine: Timing, peer: Timing) =>
    `| ${what} | ${show(mine)} | ${show(peer)} | ${(mine.median / peer.median).toFixed(2)}× |`
  return [
    `| milliseconds: median (min–max); ${neurons} Neurons | in process | native git | ratio |`,
    '|---|---|---|---|',
    row('first push of main', times.first, times.firstGit),
    row(`${branches} new branches of a commit each, in one push`, times.branches, times.branchesGit),
    row('fetch of the whole of main, checked', times.fetch, times.fetchGit),
    row('a new branch of a commit', times.branch, times.branchGit),
    '',
    `isomorphic-git pushes a new branch of a commit in ${show(times.branchIso)} ms: ${(times.branchIso.median / times.branch.median).toFixed(0)} times as long.`,
    ...kept.map(
      ({ what, ours, iso }) =>
        `${what} takes ${ours.toFixed(0)} MB of memory, by isomorphic-git ${iso.toFixed(0)} MB: ${(iso / ours).toFixed(1)} times as much.`,
    ),
  ]
}

/** Mebibytes that a process of each grows by while it fetches a commit from an address or, where that is empty, reads it. */
async function memoryOf(url: string, commit: string, gitDir: () => string): Promise<{ ours: number; iso: number }> {
  const grown = async (who: string) =>
    Number((await run(process.execPath, [fetchOnce, who, url, gitDir(), commit])).stdout)
  return { ours: await grown('ours'), iso: await grown('isomorphic-git') }
}

function emptyRepository(): string {
  const gitDir = workFolder()
  durableGit(gitDir, ['init', '--quiet', '--bare', gitDir])
  return gitDir
}

/** A pack of 60 MB that do not compress. @returns its commit */
function writePack(dir: string): string {
  const blobs = Array.from({ length: 60 }, (_, n) => {
    const path = join(dir, 'random')
    writeFileSync(path, randomBytes(1024 * 1024))
    return `100644 blob ${durableGit(dir, ['hash-object', '-w', path])}\t${n}.bin\n`
  })
  const main = durableGit(dir, ['commit-tree', '-m', 'x', durableGit(dir, ['mktree'], blobs.join(''))])
  durableGit(dir, ['update-ref', 'refs/heads/main', main])
  durableGit(dir, ['symbolic-ref', 'HEAD', 'refs/heads/main'])
  durableGit(dir, ['repack', '-adq'])
  return main
}

/** Branches of main, each with a page of its own. */
function branchStream(): string {
  return Array.from({ length: branches }, (_, n) => {
    const page = `---\ntitle: Bench ${n}\n---\n\nOf ${n}.\n`
    return [
      `commit refs/heads/bench/${n}`,
      `committer Bench <bench@example.com> ${1_700_000_000 + n} +0000`,
      'data 5\nBench',
      'from refs/heads/main^0',
      `M 100644 inline neurons/bench-${n}.md`,
      `data ${Buffer.byteLength(page)}\n${page}`,
    ].join('\n')
  }).join('\n')
}

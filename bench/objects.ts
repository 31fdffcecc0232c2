import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import git from 'isomorphic-git'
import { ObjectStore } from '../src/git/objects/object-store.ts'
import { noteAim } from './support/aims.ts'
import { importNotes } from './support/imported-notes.ts'
import { durableGit, inTurn, milliseconds, show, type Timing } from './support/measure.ts'

const neurons = 10_000
const rounds = 5

/**
 * Reading the blobs of a knowledge base one after the other: in process, asking a git, with isomorphic-git; and all in one go of git.
 * Each reads the same blobs in the same order, in a round that begins without a cache of its own.
 */
export async function benchObjects(): Promise<string[]> {
  const { ctx, gitDir } = await importNotes(neurons)
  await ctx.close()
  durableGit(gitDir, ['repack', '-adfq'])
  const listed = durableGit(gitDir, ['ls-tree', '-r', '--format=%(objectname)', 'main', 'neurons/'])
  const oids = listed.trim().split('\n')
  const times = await inTurn(rounds, {
    bulk: () => milliseconds(() => durableGit(gitDir, ['cat-file', '--batch'], `${oids.join('\n')}\n`)),
    store: () => milliseconds(() => readInProcess(gitDir, oids)),
    asked: () => milliseconds(() => askGit(gitDir, oids)),
    isomorphic: () => milliseconds(() => readWithIsomorphicGit(gitDir, oids)),
  })
  const row = (name: string, time: Timing) =>
    `| ${name} | ${show(time)} | ${((time.median * 1000) / oids.length).toFixed(0)} µs | ${(time.median / times.bulk.median).toFixed(2)}× |`
  const ratio = times.store.median / times.bulk.median
  const aim = noteAim('reading 10,000 blobs in process', ratio, { atMost: 1.5 }, '× `cat-file` of all at once')
  return [
    `| ${oids.length} blobs, milliseconds: median (min–max) | time | each | against git |`,
    '|---|---|---|---|',
    row('`git cat-file --batch`, all at once', times.bulk),
    row('in process, as Ganglion reads', times.store),
    row('`git cat-file --batch`, one after the other', times.asked),
    row('isomorphic-git, with its cache', times.isomorphic),
    '',
    `In process against all at once: ${ratio.toFixed(2)}×, aim ${aim}.`,
  ]
}

async function readInProcess(gitDir: string, oids: readonly string[]): Promise<void> {
  const store = new ObjectStore(gitDir)
  for (const oid of oids) await store.read(oid)
  store.close()
}

async function askGit(gitDir: string, oids: readonly string[]): Promise<void> {
  const child = spawn('git', ['--git-dir', gitDir, 'cat-file', '--batch'])
  for (const oid of oids) {
    child.stdin.write(`${oid}\n`)
    await once(child.stdout, 'data')
  }
  child.stdin.end()
  child.stdout.resume()
  await once(child, 'close')
}

/** Reads with isomorphic-git. Its cache contains whole packs, and is rebuilt for each round, as for each process. */
async function readWithIsomorphicGit(gitdir: string, oids: readonly string[]): Promise<void> {
  const cache = {}
  for (const oid of oids) await git.readBlob({ fs, gitdir, oid, cache })
}

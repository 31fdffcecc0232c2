import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { OpenContext } from '../../../src/app/open-context.ts'
import { Repository } from '../../../src/git/repository.ts'
import type { Cluster } from '../../../src/kb/cluster/cluster.ts'
import { mainRef } from '../../../src/kb/refs/kb-refs.ts'
import { type NativeChanges, NativeWriter } from '../../kb/support/native-writer.ts'
import { tempDir } from '../../support/temp.ts'

/** A program that writes to a knowledge base around its server. */
export type OutsideWriter = {
  /** The repository that it writes to: the server's or, in a cluster, a copy of its own. */
  gitDir: string
  /** Runs work that moves main in that repository, and shows it to the servers. @returns the new head */
  publish: (work: () => unknown) => Promise<string>
  /** Publishes one commit. @returns its id */
  commit: (changes: NativeChanges) => Promise<string>
  /** A file on main in that repository. */
  read: (path: string) => string
}

/** Writes with git into the repository of the server or, in a cluster, as another node does. */
export async function outsideWriter({ directory, cluster }: OpenContext, kbId: string): Promise<OutsideWriter> {
  if (cluster !== undefined) return nodeWriter(cluster, kbId)
  return writerOf(directory.repository(kbId), async (work) => void (await work()))
}

async function nodeWriter(cluster: Cluster, kbId: string): Promise<OutsideWriter> {
  const repository = await Repository.init(join(tempDir(), 'node.git'))
  onTestFinished(() => repository.close())
  const refs = cluster.refsOf(kbId, repository)
  await refs.readHeads()
  return writerOf(repository.gitDir, async (work) => {
    const heads = await refs.readHeads()
    await work()
    const to = (await repository.readRef(mainRef)) ?? expect.unreachable('There is no main.')
    const moves = [{ ref: mainRef, from: heads.get(mainRef), to }]
    expect(await refs.publish({ objects: new Map(), heads, moves })).toEqual(new Set([mainRef]))
  })
}

function writerOf(gitDir: string, run: (work: () => unknown) => Promise<void>): OutsideWriter {
  const native = new NativeWriter(gitDir)
  const publish = async (work: () => unknown) => {
    await run(work)
    return native.git('rev-parse', mainRef)
  }
  return {
    gitDir,
    publish,
    commit: (changes) => publish(() => native.commit(mainRef, changes)),
    read: (path) => native.read(mainRef, path),
  }
}

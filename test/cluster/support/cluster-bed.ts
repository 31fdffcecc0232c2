import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { GroupCommit } from '../../../src/git/group-commit.ts'
import { Repository } from '../../../src/git/repository.ts'
import { ClusterRefs } from '../../../src/kb/cluster/cluster-refs.ts'
import { advisoryTurn } from '../../../src/state/database/engines/advisory-lock.ts'
import { Repositories } from '../../../src/state/directory/repositories.ts'
import { type PackStore, S3Packs } from '../../../src/state/s3/s3-packs.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { noFollower } from '../../git/support/no-follower.ts'
import { fsck, main, pathsOf, queue, type Writer } from '../../git/support/ref-store-suite.ts'
import { s3Server } from '../../state/s3-server.ts'
import { testDatabase } from '../../state/support.ts'
import { tempDir } from '../../support/temp.ts'

export const kbId = '0199a5c2-0000-7000-8000-000000000000'

type Rows = Pick<Repositories, 'version' | 'state' | 'publish' | 'isNamed'>
/** Replacements for the shared parts of a writer that make something fail. */
export type Faults = {
  /** Called for each turn that is asked for. */
  onTurn?: () => void
  rows?: (rows: Rows) => Partial<Rows>
  packs?: (packs: PackStore) => Partial<PackStore>
}

/** One repository that writers share, each with a copy of its own: a database, and an emulated S3. */
export async function clusterBed() {
  const [{ db, notifications }, s3] = [await testDatabase(), await s3Server()]
  const [repositories, packs] = [new Repositories(db, notifications), new S3Packs(s3.options)]
  const open = (gitDir: string, { onTurn, rows, packs: packFaults }: Faults = {}) => {
    const repository = new Repository(gitDir)
    onTestFinished(() => repository.close())
    const shared = {
      id: kbId,
      takeTurn: () => {
        onTurn?.()
        return advisoryTurn(db, `write ${kbId}`)
      },
      repositories: { ...boundRows(repositories), ...rows?.(repositories) },
      packs: { ...boundPacks(packs), ...packFaults?.(packs) },
    }
    return { repository, store: new ClusterRefs(repository, [queue, main], shared, 500) }
  }
  const writer = async (faults?: Faults) => {
    const { gitDir } = await Repository.init(join(tempDir(), 'kb.git'))
    return open(gitDir, faults)
  }
  return { db, s3, repositories, packs, writer, open }
}

/** Makes commits as the server does. */
export function commitsOf({ repository, store }: Writer): GroupCommit {
  return new GroupCommit(repository, store, noFollower)
}

/** Main has one commit for each of these paths, and is sound, for a machine that has nothing yet. */
export async function expectSound(
  bed: Awaited<ReturnType<typeof clusterBed>>,
  paths: readonly string[],
): Promise<void> {
  const reader = await bed.writer()
  await reader.store.readHeads()
  expect(pathsOf(reader, main)).toEqual([...paths].sort())
  expect(nativeGit(reader.repository.gitDir, ['rev-list', '--count', main])).toBe(String(paths.length))
  expect(fsck(reader)).toBe('')
}

function boundRows(rows: Repositories): Rows {
  return {
    version: (id) => rows.version(id),
    state: (id) => rows.state(id),
    publish: (id, change) => rows.publish(id, change),
    isNamed: (id, key) => rows.isNamed(id, key),
  }
}

function boundPacks(packs: PackStore): PackStore {
  return {
    put: (key, file) => packs.put(key, file),
    get: (key, size) => packs.get(key, size),
    has: (key) => packs.has(key),
    delete: (key) => packs.delete(key),
    list: () => packs.list(),
  }
}

import { join } from 'node:path'
import { type ContextOptions, openContext } from '../src/app/open-context.ts'
import { backup } from '../src/operate/backup/backup.ts'
import { restore } from '../src/operate/backup/restore.ts'
import { verify } from '../src/operate/verify/verify.ts'
import { PostgresServer } from '../test/support/postgres.ts'
import { startBucket } from './support/bucket.ts'
import { importNotes } from './support/imported-notes.ts'
import { durableGit, milliseconds, workFolder } from './support/measure.ts'

const neurons = Number(process.env.MOVING_NEURONS ?? 10_000)
/** Milliseconds of each request to the bucket, about as long as in one region of a cloud. */
const latencyMs = Number(process.env.BUCKET_MS ?? 20)

type Stores = Pick<ContextOptions, 'dataDir' | 'database' | 'objects'>

/** The way of a deployment from one machine to a cluster and back, against what git takes for the repository alone. */
export async function benchMoving(): Promise<string[]> {
  const { ctx, dataDir, gitDir } = await importNotes(neurons)
  await ctx.close()
  const postgres = await PostgresServer.start({ durable: true })
  await postgres.run('create database ganglion')
  const bucket = await startBucket(latencyMs)
  const cluster = { dataDir: workFolder(), database: postgres.address('ganglion'), objects: bucket.options }
  try {
    const bundle = join(workFolder(), 'all.bundle')
    const bundled = await milliseconds(() => durableGit(gitDir, ['bundle', 'create', '--quiet', bundle, '--all']))
    const copy = join(workFolder(), 'copy.git')
    const copied = await milliseconds(() => {
      durableGit(gitDir, ['clone', '--quiet', '--mirror', bundle, copy])
      durableGit(copy, ['fsck', '--full', '--strict'])
    })
    const up = await way({ dataDir }, cluster)
    const back = await way(cluster, { dataDir: join(workFolder(), 'back') })
    return [
      `Moving ${neurons} Neurons, seconds; each request to the bucket takes ${latencyMs} ms`,
      '',
      '| | backup | restore | verify |',
      '|---|---|---|---|',
      row('git: bundle; clone of it, and fsck', [bundled, copied]),
      row('one machine → cluster', up),
      row('cluster → one machine', back),
    ]
  } finally {
    bucket.close()
    await postgres.remove()
  }
}

/** Milliseconds: of the backup, the restore, and verifying what was restored. */
async function way(from: Stores, to: Stores): Promise<number[]> {
  const dir = join(workFolder(), 'backup')
  const source = await openContext(from)
  const backedUp = await milliseconds(() => backup(source, dir, { version: 'bench' }))
  await source.close()
  const restored = await milliseconds(() => restore(dir, to, { isMove: true }))
  const target = await openContext(to)
  const verified = await milliseconds(async () => {
    const { ok, kbs } = await verify(target)
    if (!ok) throw new Error(JSON.stringify(kbs))
  })
  await target.close()
  return [backedUp, restored, verified]
}

function row(name: string, times: readonly number[]): string {
  const cells = [0, 1, 2].map((n) => (times[n] === undefined ? '' : (times[n] / 1_000).toFixed(1)))
  return `| ${name} | ${cells.join(' | ')} |`
}

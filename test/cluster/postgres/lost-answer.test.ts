import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'vitest'
import { ConnectionLost } from '../../../src/state/database/database-errors.ts'
import { main, put } from '../../git/support/ref-store-suite.ts'
import { clusterBed, commitsOf, expectSound } from '../support/cluster-bed.ts'

test('a commit that the server is still making is waited for', async () => {
  const bed = await clusterBed()
  let finished: Promise<unknown> = Promise.resolve()
  const writer = await bed.writer({
    rows: (rows) => ({
      publish: (id, change) => {
        // The server holds the row until it has committed, while the client believes the connection lost.
        finished = bed.db.transaction().execute(async (transaction) => {
          await transaction.insertInto('repositories').values({ kb_id: id, version: 1 }).execute()
          for (const { ref, to: oid } of change.moves) {
            await transaction.insertInto('repository_refs').values({ kb_id: id, ref, oid }).execute()
          }
          await transaction
            .insertInto('repository_packs')
            .values({ ...change.pack, kb_id: id, replaced_at: null })
            .execute()
          await delay(300)
        })
        return delay(100).then(() => Promise.reject(new ConnectionLost(new Error('cut'))))
      },
      isNamed: (id, key) => rows.isNamed(id, key),
    }),
  })
  await commitsOf(writer).run((staging) => put(staging, main, 'a.md'))
  await finished
  await expectSound(bed, ['a.md'])
})

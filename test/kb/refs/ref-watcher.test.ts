import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { eventually } from '../../support/eventually.ts'
import { tempDir } from '../../support/temp.ts'

test('what another program commits is in the projection within a second, before anybody asks', async () => {
  const errors: unknown[] = []
  const watch = { onError: (error: unknown) => errors.push(error) }
  const ctx = await openContext({ dataDir: tempDir(), watch })
  const { gitDir } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  const kb = await ctx.kb((await ctx.tenants.find('acme'))?.id ?? '', 'handbook')
  const seen = () => kb.projection.heads(kb.projection.read).main
  const clone = join(tempDir(), 'clone')
  nativeGit(gitDir, ['clone', '--quiet', gitDir, clone])
  for (const round of ['first', 'after the refs were packed', 'packed at once']) {
    nativeGit(clone, ['commit', '--quiet', '--allow-empty', '-m', round])
    nativeGit(clone, ['push', '--quiet', 'origin', 'HEAD:main'])
    if (round === 'packed at once') nativeGit(gitDir, ['pack-refs', '--all'])
    const head = nativeGit(clone, ['rev-parse', 'HEAD'])
    await eventually(() => expect(seen()).toBe(head))
    nativeGit(gitDir, ['pack-refs', '--all'])
    await delay(200) // The watcher sees that the file of main is gone.
  }
  await ctx.close()
  expect(errors).toEqual([])
})

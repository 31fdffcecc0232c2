import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { ganglion, ganglionProcess } from '../cli/support.ts'
import { tempDir } from '../support/temp.ts'
import { planFaults } from './support/fault-plan.ts'

test('a backup and a restore that a full disk cuts off leave nothing that is taken for whole, and can be made again', async () => {
  const [data, target, folder] = [join(tempDir(), 'data'), join(tempDir(), 'target'), tempDir()]
  const opened = await openContext({ dataDir: data })
  for (const slug of ['a', 'b']) await createKnowledgeBase(opened, { tenant: 'acme', slug })
  await opened.close()
  const full = planFaults({ mode: 'fail', rate: 1, codes: ['ENOSPC'] })

  full.begin()
  const half = join(folder, 'half')
  expect(await ganglionProcess(['backup', half, '--data', data], full.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ENOSPC'),
  })
  expect((await ganglion(['restore', half, '--data', target])).stderr).toContain('holds no whole backup')

  const whole = join(folder, 'whole')
  expect(await ganglion(['backup', whole, '--data', data])).toMatchObject({ code: 0 })
  expect(await ganglionProcess(['restore', whole, '--data', target], full.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ENOSPC'),
  })
  expect([existsSync(target), existsSync(`${target}.restoring`)]).toEqual([false, false])

  expect(await ganglion(['restore', whole, '--data', target])).toMatchObject({ code: 0 })
  expect(await ganglion(['verify', '--data', target])).toMatchObject({ code: 0 })
})

import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startMaintenance } from '../../src/operate/kb-maintenance.ts'
import { newTestBed } from '../kb/support/test-bed.ts'
import { eventually } from '../support/eventually.ts'
import { tempDir } from '../support/temp.ts'

/** A git that begins each repack by making a file, and does not end it by itself. */
function gitWithoutEnd(): { folder: string; begun: string } {
  const folder = tempDir()
  const begun = join(folder, 'begun')
  writeFileSync(join(folder, 'git'), `#!/bin/sh\necho > '${begun}'\nsleep 600\n`)
  chmodSync(join(folder, 'git'), 0o755)
  return { folder, begun }
}

test('stopping in the middle of a repack ends it, and is no error', async () => {
  const { ctx, curator, gitDir } = await newTestBed()
  await ctx.kb(curator.tenantId, 'handbook')
  for (let n = 0; n < 30; n++) writeFileSync(join(gitDir, `objects/pack/pack-${n}.pack`), '')
  const { folder, begun } = gitWithoutEnd()
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  const errors: unknown[] = []
  const stop = startMaintenance(ctx, (error) => errors.push(error), 10)
  await eventually(async () => expect(existsSync(begun)).toBe(true))
  await stop()
  expect(errors).toEqual([])
})

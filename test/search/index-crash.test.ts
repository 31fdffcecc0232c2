import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startNode } from '../support/process.ts'
import { tempDir } from '../support/temp.ts'
import { IndexClient } from './index-client.ts'
import { pageOf } from './versioned-page.ts'

const program = fileURLToPath(new URL('./changing-process.ts', import.meta.url))
const cycles = 6

test.each(['minisearch', 'segments'] as const)(
  'a process that is killed while it indexes leaves an index that is right for what it holds: %s',
  async (engine) => {
    const directory = tempDir()
    for (let cycle = 0; cycle < cycles; cycle++) {
      const child = startNode([program, directory, engine])
      await once(child.stdout ?? child, 'data')
      await delay(Math.random() * 200)
      child.kill('SIGKILL')
      await once(child, 'exit')
      const left = new IndexClient(directory, { engine })
      const held = left.versions()
      const rebuilt = new IndexClient(tempDir(), { engine })
      rebuilt.follow([...held.values()].map(pageOf))
      expect(left.answers()).toEqual(rebuilt.answers())
      for (const client of [left, rebuilt]) client.close()
    }
  },
)

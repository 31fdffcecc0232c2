import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DataDirectory } from '../../../../src/state/directory/data-directory.ts'
import type { ChunkUploader } from './ingest-chunks.ts'
import type { EventFollower } from './ingest-events.ts'
import { extractorsOf } from './ingest-remains.ts'

type Scene = { dataDir: string; gitDir: string; follower: EventFollower; chunks: ChunkUploader }

/** Target of a kill, how to see it coming, and the maximum delay of the kill, in milliseconds. */
const aims: readonly { name: string; come: (scene: Scene) => Promise<unknown>; withinMs: number }[] = [
  { name: 'anything', come: () => delay(500), withinMs: 2_500 },
  { name: 'receiving', come: ({ dataDir }) => polled(() => incoming(dataDir) > 0), withinMs: 15 },
  { name: 'extracting', come: ({ dataDir }) => polled(() => extractorsOf(dataDir).length > 0), withinMs: 500 },
  { name: 'compiling', come: ({ follower }) => follower.next('compiling'), withinMs: 10 },
  { name: 'a chunk', come: ({ chunks }) => polled(() => chunks.isSending), withinMs: 15 },
  { name: 'committing', come: ({ follower }) => follower.next('committing'), withinMs: 60 },
  { name: 'the start', come: () => Promise.resolve(), withinMs: 150 },
  { name: 'begun', come: ({ follower }) => follower.next('ingest.started'), withinMs: 30 },
  { name: 'committed', come: ({ gitDir }) => mainMoves(gitDir), withinMs: 3 },
]

/** Milliseconds that a kill waits for its target. */
const patience = 4_000

/** Resolves when it is time to kill the server; what it is aimed at takes turns by the number of the cycle. */
export async function timeToKill(cycle: number, scene: Scene): Promise<void> {
  const aim = aims[cycle % aims.length]
  if (aim === undefined) return
  // There is something to be killed in the midst of, but for a kill at the start.
  if (aim.name !== 'the start') await delay(300 + Math.random() * 700)
  await Promise.race([aim.come(scene), delay(patience)])
  await delay(Math.random() * aim.withinMs)
}

function incoming(dataDir: string): number {
  return readdirSync(DataDirectory.open(dataDir).incoming).length
}

function mainMoves(gitDir: string): Promise<void> {
  const written = () => statSync(join(gitDir, 'refs', 'heads', 'main'), { throwIfNoEntry: false })?.mtimeMs
  const before = written()
  return polled(() => written() !== before)
}

async function polled(isSo: () => boolean): Promise<void> {
  for (const end = performance.now() + patience; !isSo() && performance.now() < end; ) {
    await delay(1)
  }
}

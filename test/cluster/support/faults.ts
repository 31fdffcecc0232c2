import { setTimeout as delay } from 'node:timers/promises'
import type { PostgresServer } from '../../support/postgres.ts'
import type { FaultyProxy, StoreMode } from './faulty-proxy.ts'
import type { Node } from './node.ts'

export type Parts = { nodes: readonly Node[]; postgres: PostgresServer; store: FaultyProxy }
type Fault = { name: string; run: (parts: Parts) => Promise<void> }

/** Returns the faults, each of a limited duration in milliseconds. */
export function faultsOf(longestMs: number): readonly Fault[] {
  const some = () => delay(Math.random() * longestMs)
  const store = (mode: StoreMode) => async (parts: Parts) => {
    parts.store.mode = mode
    await some()
    parts.store.mode = 'serving'
  }
  const killNode = async ({ nodes }: Parts) => {
    const node = pick(nodes)
    await node.stop('SIGKILL')
    await delay(Math.random() * 1_000)
    await node.start()
  }
  return [
    { name: 'node killed', run: killNode },
    { name: 'node killed', run: killNode },
    { name: 'node killed', run: killNode },
    { name: 'node stopped and continued', run: ({ nodes }) => pick(nodes).pause(longestMs) },
    {
      name: 'node ended',
      run: async ({ nodes }) => {
        const node = pick(nodes)
        await node.stop('SIGTERM')
        await node.start()
      },
    },
    {
      name: 'PostgreSQL restarted',
      run: async ({ postgres }) => {
        await postgres.stop('fast')
        await postgres.begin()
      },
    },
    {
      name: 'PostgreSQL crashed and away',
      run: async ({ postgres }) => {
        await postgres.stop('kill')
        await some()
        await postgres.begin()
      },
    },
    { name: 'store failing', run: store('failing') },
    { name: 'store hanging', run: store('hanging') },
    { name: 'answers of the store lost', run: store('losing') },
  ]
}

function pick<T>(list: readonly T[]): T {
  const picked = list[Math.floor(Math.random() * list.length)]
  if (picked === undefined) throw new Error('There is nothing to pick.')
  return picked
}

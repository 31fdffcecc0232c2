import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { type Answer, Api } from '../../faults/support/api.ts'
import { kbSlug, tenant } from '../../faults/support/deployment.ts'
import type { HeadOperation } from '../../support/head-history.ts'

const Committed = z.object({ commit: z.string() })

/** `begun`: when each request was sent first. One that is asked again may be told the commit of an attempt whose answer was lost. */
type Recorded = { operations: HeadOperation[]; begun: Map<string, number> }

/** A client that notes when each commit that it was told of was made. */
export class RecordingApi extends Api {
  readonly #recorded: Recorded

  constructor(recorded: Recorded, ...rest: ConstructorParameters<typeof Api>) {
    super(...rest)
    this.#recorded = recorded
  }

  override async request(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    headers = {},
  ): Promise<Answer | undefined> {
    const { operations, begun } = this.#recorded
    const start = begun.getOrInsert(JSON.stringify([path, headers]), performance.now())
    const answer = await super.request(method, path, body, headers)
    const commit = method === 'POST' ? Committed.safeParse(answer?.body).data?.commit : undefined
    if (commit !== undefined) operations.push({ kind: 'write', commit, start, end: performance.now() })
    return answer
  }
}

/** Asks for the head of main as git does, again and again. */
export async function readHeads(
  url: string,
  token: string,
  { operations, isOver }: { operations: HeadOperation[]; isOver: () => boolean },
): Promise<void> {
  const address = `${url}/git/${tenant}/${kbSlug}.git/info/refs?service=git-upload-pack`
  const headers = { authorization: `Basic ${Buffer.from(`any:${token}`).toString('base64')}` }
  for (; !isOver(); await delay(50)) {
    const start = performance.now()
    const text = await fetch(address, { headers, signal: AbortSignal.timeout(60_000) })
      .then((answer) => (answer.ok ? answer.text() : ''))
      .catch(() => '')
    const commit = /([0-9a-f]{40}) refs\/heads\/main$/m.exec(text)?.[1]
    if (commit !== undefined) operations.push({ kind: 'read', commit, start, end: performance.now() })
  }
}

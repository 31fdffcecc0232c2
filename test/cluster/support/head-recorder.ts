import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { type Answer, Api } from '../../faults/support/api.ts'
import { kbSlug, tenant } from '../../faults/support/deployment.ts'
import type { HeadOperation } from '../../support/head-history.ts'

const Committed = z.object({ commit: z.string() })

/** A client that notes when each commit that it was told of was made. */
export class RecordingApi extends Api {
  readonly #operations: HeadOperation[]

  constructor(operations: HeadOperation[], ...rest: ConstructorParameters<typeof Api>) {
    super(...rest)
    this.#operations = operations
  }

  override async request(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    headers = {},
  ): Promise<Answer | undefined> {
    const start = performance.now()
    const answer = await super.request(method, path, body, headers)
    const commit = method === 'POST' ? Committed.safeParse(answer?.body).data?.commit : undefined
    if (commit !== undefined) this.#operations.push({ kind: 'write', commit, start, end: performance.now() })
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

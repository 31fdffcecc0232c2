import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ContextOptions } from '../../app/open-context.ts'
import { type Context, onePer } from '../../kb/context.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import type { Verification } from './verify.ts'

/** Verification of a tenant's knowledge bases. Times are ISO 8601, UTC. */
export type VerificationRun = {
  startedAt: string
  by: string
  /** End of the run; undefined while it is queued or running. */
  finishedAt?: string
  /** Result; also undefined if the run was interrupted. */
  result?: Verification
}

/** Message to the process that verifies. */
export type VerifyOrder = Pick<ContextOptions, 'dataDir' | 'database' | 'bucket' | 'objects'> & { kbs: KbIdentity[] }

const program = fileURLToPath(new URL(`./verify-child${import.meta.url.slice(-3)}`, import.meta.url))
const timeLimitMs = 60 * 60_000

export const verifications = onePer((ctx: Context) => new Verifications(ctx))

/** Runs verifications beside the server, one at a time, and keeps the latest of each tenant until the server ends. */
class Verifications {
  readonly #ctx: Context
  readonly #latest = new Map<string, VerificationRun>()
  #turn: Promise<void> = Promise.resolve()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  latest(tenantId: string): VerificationRun | undefined {
    return this.#latest.get(tenantId)
  }

  /** Starts a verification, unless one of the tenant is in progress. */
  start({ tenantId, name }: { tenantId: string; name: string }): VerificationRun {
    const known = this.#latest.get(tenantId)
    if (known !== undefined && known.finishedAt === undefined) return known
    const run: VerificationRun = { startedAt: this.#ctx.now().toISOString(), by: name }
    this.#latest.set(tenantId, run)
    this.#turn = this.#turn.then(async () => {
      const result = await this.#verify(tenantId).catch(() => undefined)
      run.finishedAt = this.#ctx.now().toISOString()
      if (result !== undefined) run.result = result
    })
    return run
  }

  async #verify(tenantId: string): Promise<Verification | undefined> {
    const { directory, databaseAddress: database, bucket, objects, knowledgeBases } = this.#ctx
    const kbs = await knowledgeBases.list(tenantId)
    const order: VerifyOrder = { dataDir: directory.root, database, bucket, objects, kbs }
    const child = fork(program, { stdio: 'ignore', timeout: timeLimitMs, killSignal: 'SIGKILL', execArgv: [] })
    child.unref()
    child.channel?.unref()
    return new Promise((resolve, reject) => {
      child.once('message', (result) => resolve(result as Verification))
      child.once('error', reject).once('exit', () => resolve(undefined))
      child.send(order)
    })
  }
}

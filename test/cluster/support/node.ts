import { setTimeout as delay } from 'node:timers/promises'
import { serve } from '../../cli/support.ts'
import { end } from '../../faults/support/deployment.ts'

type Running = Awaited<ReturnType<typeof serve>>['child']

/** A node of a cluster: a real server, on a port that stays its own. */
export class Node {
  readonly port: number
  readonly dataDir: string
  readonly #env: Readonly<Record<string, string>>
  #running: Running | undefined

  constructor(port: number, dataDir: string, env: Readonly<Record<string, string>>) {
    this.port = port
    this.dataDir = dataDir
    this.#env = { ...env, GANGLION_PORT: String(port), GANGLION_RATE_READS: '1000000', GANGLION_RATE_WRITES: '1000000' }
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Starts it where it does not run, again and again while its parts are out of reach; resolves once it serves. */
  async start(): Promise<void> {
    while (this.#running === undefined || this.#running.exitCode !== null || this.#running.signalCode !== null) {
      try {
        this.#running = (await serve(this.dataDir, this.#env)).child
      } catch {
        await delay(200)
      }
    }
  }

  async stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (this.#running !== undefined) await end(this.#running, signal)
    this.#running = undefined
  }

  /** Stands still, with its connections open, for so many milliseconds. */
  async pause(ms: number): Promise<void> {
    const running = this.#running
    running?.kill('SIGSTOP')
    await delay(ms)
    running?.kill('SIGCONT')
  }
}

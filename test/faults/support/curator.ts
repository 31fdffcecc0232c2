import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type GitRun, git, gitOutput } from './git.ts'
import type { Ledger } from './ledger.ts'

const housekeeping = [
  ['gc', '--quiet', '--prune=now'],
  ['repack', '-q', '-a', '-d'],
  ['pack-refs', '--all'],
] as const

/** A curator who works in a clone with native git, and now and then tidies the bare repository up. */
export class NativeCurator {
  readonly #gitDir: string
  readonly #clone: string
  readonly #ledger: Ledger
  #group: number | undefined
  #wasKilled = false

  private constructor(gitDir: string, clone: string, ledger: Ledger) {
    this.#gitDir = gitDir
    this.#clone = clone
    this.#ledger = ledger
  }

  static async start(gitDir: string, clone: string, ledger: Ledger): Promise<NativeCurator> {
    await gitOutput(gitDir, ['clone', '--quiet', gitDir, clone])
    return new NativeCurator(gitDir, clone, ledger)
  }

  /** @param pauseMs what is waited between two pushes, on average */
  async work(
    isOver: () => boolean,
    { tidiesUp, pauseMs = 20 }: { tidiesUp: boolean; pauseMs?: number },
  ): Promise<void> {
    if (this.#wasKilled) await this.#cloneAgain()
    while (!isOver()) {
      const chore = tidiesUp && Math.random() < 0.3 ? housekeeping[Math.floor(Math.random() * 3)] : undefined
      if (chore === undefined) await this.#editAndPush()
      else await this.#run(this.#gitDir, chore)
      for (let wait = 2 * Math.random() * pauseMs; wait > 0 && !isOver(); wait -= 20) await delay(20)
    }
  }

  /** Kills the git that is running, with all that it has started, so that it leaves its locks behind. */
  kill(): void {
    if (this.#group === undefined) return
    this.#wasKilled = true
    try {
      process.kill(-this.#group, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }

  /** The curator's own locks are the curator's own trouble. */
  async #cloneAgain(): Promise<void> {
    await rm(this.#clone, { recursive: true, force: true })
    await gitOutput(this.#gitDir, ['clone', '--quiet', this.#gitDir, this.#clone])
    this.#wasKilled = false
  }

  /** Pushes an edit, and completes a push that has begun even if the server is killed meanwhile. */
  async #editAndPush(): Promise<void> {
    if (!(await this.#editSomeNeuron())) {
      await this.#run(this.#clone, ['pull', '--quiet', '--rebase', 'origin', 'main'])
      return
    }
    await this.#run(this.#clone, ['commit', '--quiet', '--all', '-m', 'Edit by hand'])
    for (let attempt = 0; attempt < 5; attempt++) {
      const { stdout: commit } = await git(this.#clone, ['rev-parse', 'HEAD'])
      const push = await this.#run(this.#clone, ['push', '--quiet', 'origin', 'HEAD:main'])
      if (push.code === 0) {
        this.#ledger.pushes.add(commit.trim())
        return
      }
      const pull = await this.#run(this.#clone, ['pull', '--quiet', '--rebase', 'origin', 'main'])
      if (pull.code === 0) continue
      await this.#run(this.#clone, ['rebase', '--abort'])
      break
    }
    await this.#run(this.#clone, ['reset', '--quiet', '--hard', 'origin/main'])
  }

  async #editSomeNeuron(): Promise<boolean> {
    const folder = join(this.#clone, 'neurons')
    const names = await readdir(folder, { recursive: true }).catch(() => [])
    const files = names.filter((name) => name.endsWith('.md'))
    const name = files[Math.floor(Math.random() * files.length)]
    if (name === undefined) return false
    const text = await readFile(join(folder, name), 'utf8')
    await writeFile(join(folder, name), `${text.trimEnd()}\n\nBy hand: ${randomUUID()}\n`)
    return true
  }

  async #run(dir: string, args: readonly string[]): Promise<GitRun> {
    const run = await git(dir, args, { onStart: (group) => (this.#group = group) })
    this.#group = undefined
    return run
  }
}

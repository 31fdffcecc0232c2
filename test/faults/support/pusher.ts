import { randomUUID } from 'node:crypto'
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Known } from './clients.ts'
import { type GitRun, git, gitOutput } from './git.ts'
import { type Ledger, pushedWords, wordsOf } from './ledger.ts'

/** A commit of one page whose push was not accepted yet. */
type Work = { marker: string; commit: string }

/** Rejections of pushes that are late or too many. */
const usualRefusals = /fetch first|non-fast-forward|Too many use git/
/** Rejections of a push whose new objects somebody prunes with all unreachable ones. */
const refusalsBesidePrune =
  /unable to migrate objects|unpacker error|failed to check this push|the commit [0-9a-f]{7} is not there/
/** Milliseconds after which it is known that a server was killed. */
const killMs = 500

/** A curator who pushes to the server, to main or for review, and after a push without an answer pushes the same again. */
export class Pusher {
  readonly #clone: string
  readonly #target: 'main' | 'review'
  readonly #ledger: Ledger
  readonly #known: Known
  #isCloned = false
  #isPushing = false
  #work: Work | undefined

  constructor(clone: string, target: 'main' | 'review', { ledger, known }: { ledger: Ledger; known: Known }) {
    this.#clone = clone
    this.#target = target
    this.#ledger = ledger
    this.#known = known
  }

  get isPushing(): boolean {
    return this.#isPushing
  }

  /** @param url the repository's, with the key */
  async work(url: string, isOver: () => boolean, { besidePrune }: { besidePrune: boolean }): Promise<void> {
    const usual = (answer: string) => usualRefusals.test(answer) || (besidePrune && refusalsBesidePrune.test(answer))
    while (!isOver()) {
      if (!this.#isCloned) await this.#cloneFrom(url)
      else if (await this.#isReady(url)) await this.#pushOrWait(url, { isOver, usual })
      await delay(20)
    }
  }

  /** Pushes one page, as long as the server takes part. */
  async pushOnce(url: string): Promise<GitRun> {
    while (!this.#isCloned) await this.#cloneFrom(url)
    if (!(await this.#isReady(url))) throw new Error('The server cannot be pulled from.')
    return this.#push(url, this.#work ?? (await this.#write()))
  }

  /** The same of a server that may fail at any step. */
  async tryOnce(url: string): Promise<void> {
    if (!this.#isCloned) await this.#cloneFrom(url)
    if (this.#isCloned && (await this.#isReady(url))) await this.#push(url, this.#work ?? (await this.#write()))
  }

  /** Whatever git says of a server that is gone, a living one only refuses who comes late. */
  async #pushOrWait(
    url: string,
    { isOver, usual }: { isOver: () => boolean; usual: (answer: string) => boolean },
  ): Promise<void> {
    const { code, stderr } = await this.#push(url, this.#work ?? (await this.#write()))
    if (code === 0 || usual(stderr)) return
    await delay(killMs)
    if (isOver()) this.#ledger.cutPushes++
    else this.#ledger.unexpected.push(`push: ${stderr}`)
  }

  async #cloneFrom(url: string): Promise<void> {
    await rm(this.#clone, { recursive: true, force: true })
    this.#isCloned = (await git('.', ['clone', '--quiet', url, this.#clone])).code === 0
  }

  /** Puts what was not accepted yet on top of main as it is now, or gives it up where that conflicts. */
  async #isReady(url: string): Promise<boolean> {
    if ((await git(this.#clone, ['fetch', '--quiet', url, 'main'])).code !== 0) return false
    const isMain = this.#target === 'main'
    if (
      this.#work !== undefined &&
      isMain &&
      (await git(this.#clone, ['rebase', '--quiet', 'FETCH_HEAD'])).code === 0
    ) {
      this.#work = { ...this.#work, commit: (await gitOutput(this.#clone, ['rev-parse', 'HEAD'])).trim() }
      return true
    }
    // A proposal is pushed again as it was.
    if (this.#work !== undefined && !isMain) return true
    await git(this.#clone, ['rebase', '--abort'])
    await gitOutput(this.#clone, ['reset', '--quiet', '--hard', 'FETCH_HEAD'])
    this.#work = undefined
    return true
  }

  /** Changes a page, or adds one, and commits it. */
  async #write(): Promise<Work> {
    const marker = randomUUID()
    const line = this.#target === 'main' ? pushedWords(marker) : wordsOf(marker)
    const folder = join(this.#clone, 'neurons')
    await mkdir(folder, { recursive: true })
    const pages = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.md'))
    const page = Math.random() < 0.5 ? pages[Math.floor(Math.random() * pages.length)] : undefined
    if (page === undefined) {
      await writeFile(join(folder, `page-${marker}.md`), `---\ntitle: Page ${marker}\n---\n\n${line}\n`)
    } else {
      const isEnded = (await readFile(join(folder, page), 'utf8')).endsWith('\n')
      await appendFile(join(folder, page), `${isEnded ? '' : '\n'}\n${line}\n`)
    }
    await gitOutput(this.#clone, ['add', '--all'])
    await gitOutput(this.#clone, ['commit', '--quiet', '-m', 'Write a page'])
    this.#work = { marker, commit: (await gitOutput(this.#clone, ['rev-parse', 'HEAD'])).trim() }
    return this.#work
  }

  async #push(url: string, { marker, commit }: Work): Promise<GitRun> {
    const to = this.#target === 'main' ? ['HEAD:main'] : ['-o', `topic=${marker}`, 'HEAD:refs/for/main']
    this.#isPushing = true
    const push = await git(this.#clone, ['push', url, ...to])
    this.#isPushing = false
    if (push.code !== 0) return push
    if (this.#target === 'main') this.#ledger.served.set(marker, commit)
    else this.#noteProposal(marker, push.stderr)
    this.#work = undefined
    return push
  }

  #noteProposal(marker: string, answer: string): void {
    const candidateId = /refs\/candidates\/([0-9a-f-]{36})\/head/.exec(answer)?.[1]
    if (candidateId === undefined) return void this.#ledger.unexpected.push(`proposal: ${answer}`)
    this.#ledger.candidates.set(candidateId, marker)
    this.#ledger.proposals.add(candidateId)
    this.#known.pending.push(candidateId)
  }
}

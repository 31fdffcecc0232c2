import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tempDir } from '../../support/temp.ts'
import { type GitRun, runUserGit, userEnvironment } from '../../support/user-git.ts'
import type { Product } from '../support.ts'

const environment = userEnvironment('ada')

/** Runs a user's git, while this process serves it. */
export async function runGit(cwd: string, ...args: string[]): Promise<GitRun> {
  const run = await runUserGit(cwd, args, environment)
  return { ...run, stdout: run.stdout.trimEnd() }
}

/** A curator's working copy. */
export class Clone {
  readonly dir: string

  private constructor(dir: string) {
    this.dir = dir
  }

  static async of(product: Pick<Product, 'url'>, token: string, ...options: string[]): Promise<Clone> {
    const dir = join(tempDir(), 'clone')
    const { code, stderr } = await runGit(tempDir(), 'clone', '--quiet', ...options, addressOf(product, token), dir)
    if (code !== 0) throw new Error(stderr)
    return new Clone(dir)
  }

  /** Lets `origin` be another server. */
  async moveTo(product: Pick<Product, 'url'>, token: string): Promise<void> {
    await this.git('remote', 'set-url', 'origin', addressOf(product, token))
  }

  run(...args: string[]): Promise<GitRun> {
    return runGit(this.dir, ...args)
  }

  /** Returns the output of git. Throws if it fails. */
  async git(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args)
    if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
    return stdout
  }

  path(name: string): string {
    return join(this.dir, name)
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8')
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true })
    writeFileSync(this.path(name), text)
  }

  remove(name: string): void {
    rmSync(this.path(name))
  }

  /** Writes pages, commits everything and gives the commit. */
  async commit(pages: Record<string, string> = {}, message = 'Edit'): Promise<string> {
    for (const [name, text] of Object.entries(pages)) this.write(name, text)
    await this.git('add', '--all')
    await this.git('commit', '--quiet', '--allow-empty', '-m', message)
    return this.git('rev-parse', 'HEAD')
  }

  push(...args: string[]): Promise<GitRun> {
    return this.run('push', 'origin', ...args)
  }
}

export function addressOf({ url }: Pick<Product, 'url'>, token: string): string {
  return `${url.replace('://', `://any:${token}@`)}/git/acme/handbook.git`
}

export function page(title: string, body: string, more: Record<string, string> = {}): string {
  const lines = Object.entries({ ...more, title }).map(([key, value]) => `${key}: ${value}`)
  return `---\n${lines.join('\n')}\n---\n\n${body}\n`
}

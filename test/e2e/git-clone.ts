import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tempDir } from '../support/temp.ts'
import type { Product } from './support.ts'

export type GitRun = { code: number; stdout: string; stderr: string }

const environment = {
  PATH: process.env.PATH,
  LC_ALL: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
}

/** Runs a user's git, while this process serves it. */
export function runGit(cwd: string, ...args: string[]): Promise<GitRun> {
  return new Promise((resolve) => {
    execFile('git', args, { cwd, env: environment, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout: stdout.trimEnd(), stderr })
    })
  })
}

/** A curator's working copy. */
export class Clone {
  readonly dir: string

  private constructor(dir: string) {
    this.dir = dir
  }

  static async of(product: Product, token: string, ...options: string[]): Promise<Clone> {
    const dir = join(tempDir(), 'clone')
    const { code, stderr } = await runGit(tempDir(), 'clone', '--quiet', ...options, addressOf(product, token), dir)
    if (code !== 0) throw new Error(stderr)
    return new Clone(dir)
  }

  /** Lets `origin` be another server. */
  async moveTo(product: Product, token: string): Promise<void> {
    await this.git('remote', 'set-url', 'origin', addressOf(product, token))
  }

  run(...args: string[]): Promise<GitRun> {
    return runGit(this.dir, ...args)
  }

  /** What git prints. Throws where it fails. */
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

function addressOf({ url }: Product, token: string): string {
  return `${url.replace('://', `://any:${token}@`)}/git/acme/handbook.git`
}

export function page(title: string, body: string, more: Record<string, string> = {}): string {
  const lines = Object.entries({ ...more, title }).map(([key, value]) => `${key}: ${value}`)
  return `---\n${lines.join('\n')}\n---\n\n${body}\n`
}

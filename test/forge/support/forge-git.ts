import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, relative } from 'node:path'
import { startProgram } from '../../../src/git/native/spawner.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { runProgram } from '../../support/run-program.ts'
import { tempDir } from '../../support/temp.ts'

export type MergeMethod = 'merge' | 'squash' | 'rebase' | 'fast-forward'

/** The git side of a forge: a bare repository that native `git http-backend` serves, and what people do to it. */
export class ForgeGit {
  readonly dir: string
  readonly #root = tempDir()

  /**
   * @param path `acme/handbook.git`
   * @param known a repository that is there already
   */
  constructor(path: string, known?: string) {
    this.dir = known ?? join(this.#root, path)
    if (known !== undefined) return
    nativeGit(this.#root, ['init', '--quiet', '--bare', '--initial-branch=main', this.dir])
    nativeGit(this.dir, ['config', 'http.receivepack', 'true'])
  }

  head(ref: string): string | undefined {
    return this.heads().get(ref.replace('refs/heads/', ''))
  }

  /** The commits of all branches, by name. Nobody packs the refs of a repository that is so small. */
  heads(): Map<string, string> {
    const folder = join(this.dir, 'refs', 'heads')
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const files = entries
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => !file.endsWith('.lock'))
    return new Map(files.map((file) => [relative(folder, file), readFileSync(file, 'utf8').trim()]))
  }

  /** The names of the branches that main holds. */
  merged(): Set<string> {
    const args = ['for-each-ref', '--format=%(refname:lstrip=2)', '--merged=refs/heads/main', 'refs/heads']
    return new Set(nativeGit(this.dir, args).split('\n'))
  }

  branches(): string[] {
    return [...this.heads().keys()]
  }

  setRef(ref: string, oid: string): void {
    nativeGit(this.dir, ['update-ref', ref, oid])
  }

  /** Commits files on top of a branch, or of main as a new branch. */
  commit(branch: string, files: Readonly<Record<string, string | null>>, message = 'Write', author = 'Ada'): string {
    const parent = this.head(`refs/heads/${branch}`) ?? this.head('refs/heads/main')
    const index = { GIT_INDEX_FILE: join(this.dir, `index-${process.hrtime.bigint()}`) }
    const run = (args: readonly string[], input?: string) =>
      gitWith(this.dir, { ...index, ...asAuthor(author) }, args, input)
    run(parent === undefined ? ['read-tree', '--empty'] : ['read-tree', parent])
    for (const [path, text] of Object.entries(files)) {
      if (text === null) run(['update-index', '--index-info'], `0 ${'0'.repeat(40)}\t${path}\n`)
      else
        run(['update-index', '--add', '--cacheinfo', `100644,${run(['hash-object', '-w', '--stdin'], text)},${path}`])
    }
    const parents = parent === undefined ? [] : ['-p', parent]
    const commit = run(['commit-tree', run(['write-tree']), ...parents, '-m', message])
    nativeGit(this.dir, ['update-ref', `refs/heads/${branch}`, commit])
    return commit
  }

  /** Puts a merge of commits at the tip of a branch, with the files of all. */
  mergeOf(branch: string, [first = '', second = '']: readonly string[]): string {
    const [tree = ''] = nativeGit(this.dir, ['merge-tree', '--write-tree', first, second]).split('\n')
    const args = ['commit-tree', tree, '-p', first, '-p', second, '-m', 'Merge']
    const commit = gitWith(this.dir, asAuthor('Merger'), args)
    this.setRef(`refs/heads/${branch}`, commit)
    return commit
  }

  /** The commits that a commit has, and a branch does not, the oldest first. */
  commitsBetween(branch: string, head: string): string[] {
    return nativeGit(this.dir, ['rev-list', '--reverse', `${branch}..${head}`])
      .split('\n')
      .filter((line) => line !== '')
  }

  /** Commits again, on another commit, what a branch has and that commit does not. */
  rebase(branch: string, onto: string): void {
    const tree = tempDir()
    nativeGit(this.dir, ['worktree', 'add', '--quiet', '--detach', tree, onto])
    for (const commit of this.commitsBetween(onto, branch)) gitWith(tree, asAuthor('Merger'), ['cherry-pick', commit])
    this.setRef(`refs/heads/${branch}`, nativeGit(tree, ['rev-parse', 'HEAD']))
    nativeGit(this.dir, ['worktree', 'remove', '--force', tree])
  }

  /** Merges a commit into main as the buttons of forges do. @returns main's new head; undefined where it conflicts */
  merge(head: string, method: MergeMethod, message: string): string | undefined {
    const main = this.head('refs/heads/main') ?? ''
    const author = asAuthor('Merger')
    let tip: string | undefined
    try {
      const base = nativeGit(this.dir, ['merge-base', main, head])
      const tree = nativeGit(this.dir, ['merge-tree', '--write-tree', main, head]).split('\n')[0] ?? ''
      const isOne = nativeGit(this.dir, ['rev-list', '--count', `${base}..${head}`]) === '1'
      const commit = (parents: string[], text: string) =>
        gitWith(this.dir, author, ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', text])
      if (method === 'fast-forward') tip = base === main ? head : undefined
      else if (method === 'merge') tip = commit([main, head], message)
      else if (method === 'squash' || isOne) tip = commit([main], message)
      else {
        const tree = tempDir()
        nativeGit(this.dir, ['worktree', 'add', '--quiet', '--detach', tree, main])
        gitWith(tree, author, ['cherry-pick', `${base}..${head}`])
        tip = nativeGit(tree, ['rev-parse', 'HEAD'])
        nativeGit(this.dir, ['worktree', 'remove', '--force', tree])
      }
    } catch {
      return undefined
    }
    if (tip !== undefined) nativeGit(this.dir, ['update-ref', 'refs/heads/main', tip, main])
    return tip
  }

  /** Answers a request of git's smart HTTP protocol, below the folder of the repository. */
  async serve(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
    const { headers } = request
    const backend = await startProgram({
      command: 'git',
      args: ['http-backend'],
      cwd: this.#root,
      hasInput: true,
      channels: 0,
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: this.#root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: headers['content-type'] ?? '',
        CONTENT_LENGTH: String(body.length),
        HTTP_GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
        HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
        REMOTE_USER: 'forge',
      },
    })
    backend.stdin.end(body)
    const chunks: Buffer[] = []
    for await (const chunk of backend.stdout) chunks.push(chunk)
    const output = Buffer.concat(chunks)
    const end = output.indexOf('\r\n\r\n')
    const lines = output.subarray(0, end).toString().split('\r\n')
    const named = lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const)
    const status = named.find(([name]) => name === 'Status')?.[1]
    response.writeHead(
      Number(status?.slice(0, 3) ?? 200),
      Object.fromEntries(named.filter(([name]) => name !== 'Status')),
    )
    response.end(output.subarray(end + 4))
  }
}

function asAuthor(name: string) {
  const email = `${name.toLowerCase()}@example.org`
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email }
}

function gitWith(dir: string, env: Record<string, string>, args: readonly string[], input = ''): string {
  return runProgram('git', args, { cwd: dir, env: { PATH: process.env.PATH, ...env }, input })
    .toString()
    .trimEnd()
}

import { GitError } from './git-error.ts'
import { longTimeLimit, spawnGit } from './git-process.ts'
import type { Oid } from './objects/object.ts'
import { quarantineEnvironment } from './quarantine.ts'

export type FileChange = { path: string; mode: string; after: Oid | undefined }
/** A commit of a branch's first-parent history, with what it changed against that parent. */
export type HistoryEntry = {
  commit: Oid
  at: Date
  changes: FileChange[]
  /** Values of the trailer that was asked for. */
  trailers: string[]
}

/** Which commits of a history to read, and what of them. */
type HistoryOptions = {
  /** Only commits that have this in a line of their message. */
  line?: string
  /** Only commits that have this in the name or address of their author. */
  author?: string
  /** The trailer whose values are given. */
  trailer?: string
  /** The folder of a push's objects, where they are not in the repository yet. */
  quarantine?: string | undefined
}

const noObject = '0'.repeat(40)

/**
 * Reads a branch's first-parent history, oldest first: a merged branch counts as the one commit that merged it.
 * @param after stop before this commit (it must be on the first-parent line, see {@link isOnFirstParentLine}).
 * @throws {GitError} `git-failed`
 */
export function readHistory(
  gitDir: string,
  head: Oid,
  after: Oid | undefined,
  options: HistoryOptions = {},
): AsyncGenerator<HistoryEntry> {
  return readLog(gitDir, ['--first-parent', head, ...(after === undefined ? [] : [`^${after}`])], options)
}

/**
 * Reads every commit in the history of `to` that is not in that of `from`, parents before children. The changes of a merge are
 * those against its first parent.
 * @throws {GitError} `git-failed`
 */
export function readRange(
  gitDir: string,
  { from, to }: { from: Oid; to: Oid },
  options: HistoryOptions = {},
): AsyncGenerator<HistoryEntry> {
  return readLog(gitDir, ['--topo-order', to, `^${from}`], options)
}

async function* readLog(
  gitDir: string,
  [order = '', ...range]: string[],
  { line, author, trailer, quarantine }: HistoryOptions,
): AsyncGenerator<HistoryEntry> {
  const filters = [
    ...(line === undefined ? [] : [`--grep=${line}`]),
    ...(author === undefined ? [] : [`--author=${author}`]),
  ]
  const values = trailer === undefined ? '' : `%x02%(trailers:key=${trailer},valueonly,separator=%x02)`
  const git = await spawnGit(
    gitDir,
    [
      ...['log', order, '--reverse', '--diff-merges=first-parent', '--raw', '-z', '--no-abbrev', '--no-renames'],
      ...['--no-show-signature', `--format=%x01%H %ct${values}`, '--fixed-strings', ...filters],
      ...['--end-of-options', ...range, '--'],
    ],
    { environment: quarantineEnvironment(gitDir, quarantine), timeLimit: longTimeLimit },
  )
  try {
    yield* parseHistory(git.stdout.setEncoding('utf8'))
    const { exitCode, complaint } = await git.ended
    if (exitCode !== 0) throw new GitError('git-failed', `git log ended with ${exitCode}: ${complaint}`)
  } finally {
    git.kill('SIGKILL')
    git.stdout.destroy()
  }
}

async function* parseHistory(output: AsyncIterable<string>): AsyncGenerator<HistoryEntry> {
  let entry: HistoryEntry | undefined
  let change: FileChange | undefined
  for await (const field of splitAtNul(output)) {
    if (change !== undefined) {
      entry?.changes.push({ ...change, path: field })
      change = undefined
    } else if (field.startsWith('\u0001')) {
      if (entry !== undefined) yield entry
      const [head = '', ...trailers] = field.slice(1).split('\u0002')
      const [commit = '', seconds] = head.split(' ')
      const values = trailers.filter((value) => value !== '')
      entry = { commit, at: new Date(Number(seconds) * 1000), changes: [], trailers: values }
    } else if (field !== '') {
      const [, mode = '', , after = noObject] = field.trimStart().split(' ')
      change = { path: '', mode, after: after === noObject ? undefined : after }
    }
  }
  if (entry !== undefined) yield entry
}

async function* splitAtNul(output: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of output) {
    const fields = (rest + chunk).split('\0')
    rest = fields.pop() ?? ''
    yield* fields
  }
  if (rest !== '') yield rest
}

/** Whether `commit` is on the first-parent line of `head`, so that what follows it is a plain list of commits. */
export async function isOnFirstParentLine(gitDir: string, head: Oid, commit: Oid): Promise<boolean> {
  const git = await spawnGit(gitDir, ['rev-list', '--first-parent', '--end-of-options', head, '--'], {
    timeLimit: longTimeLimit,
  })
  let rest = ''
  try {
    for await (const chunk of git.stdout.setEncoding('latin1')) {
      const text = rest + chunk
      if (text.includes(commit)) return true
      rest = text.slice(-40)
    }
    return false
  } finally {
    git.kill('SIGKILL')
  }
}

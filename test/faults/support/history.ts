import { parse } from 'yaml'
import { git, gitOutput, readBlobs } from './git.ts'

export type FrontMatter = Record<string, unknown>
export type File = { path: string; blob: string; text: string; data: FrontMatter }
/** `files`: what it changed beside its first parent. `approvedBy`: the id of whoever approved all of it. */
export type Commit = {
  oid: string
  parents: string[]
  committer: string
  candidates: string[]
  seqIds: string[]
  approvedBy: string | undefined
  files: File[]
}

/** Content of a repository, read by native git alone: main's history and files, and the queue. */
export type History = {
  commits: Map<string, Commit>
  /** Main's first-parent line, oldest first. */
  line: Commit[]
  files: File[]
  queue: File[]
}

const mainRef = 'refs/heads/main'
const queueRef = 'refs/ganglion/queue'

export async function readWholeHistory(gitDir: string): Promise<History> {
  const [log, files, queue] = await Promise.all([
    readLog(gitDir),
    listFiles(gitDir, mainRef, 'neurons'),
    listFiles(gitDir, queueRef, '.'),
  ])
  const changes = log.flatMap((commit) => commit.files)
  const texts = await readBlobs(
    gitDir,
    [...changes, ...files, ...queue].map(({ blob }) => blob),
  )
  const read = ({ path, blob }: { path: string; blob: string }): File => {
    const text = texts.get(blob) ?? ''
    return { path, blob, text, data: frontMatter(text) }
  }
  const commits = new Map(log.map((commit) => [commit.oid, { ...commit, files: commit.files.map(read) }]))
  return {
    commits,
    line: firstParents(commits, log[0]?.oid),
    files: files.map(read),
    queue: queue.filter(({ path }) => path.endsWith('.md')).map(read),
  }
}

function firstParents(commits: ReadonlyMap<string, Commit>, head: string | undefined): Commit[] {
  const line: Commit[] = []
  for (let commit = commits.get(head ?? ''); commit !== undefined; commit = commits.get(commit.parents[0] ?? '')) {
    line.push(commit)
  }
  return line.reverse()
}

/**
 * The candidates that each commit of main's first-parent line approved: those whose back-pointers it is the first to hold. (What an
 * import brings at once, no trailers name.)
 */
export function approvalsOf({ line }: History): Map<Commit, string[]> {
  const seen = new Set<unknown>([undefined])
  return new Map(
    line.map((commit) => {
      const own = commit.files.map(({ data }) => data.candidate).filter((id) => seen.size !== seen.add(id).size)
      return [commit, own.map(String)]
    }),
  )
}

/** Returns the complaints of `git fsck`: none for a sound repository. */
export async function fsck(gitDir: string): Promise<string> {
  const { code, stdout, stderr } = await git(gitDir, ['fsck', '--full', '--strict', '--no-dangling'])
  return code === 0 ? '' : `fsck ended with ${code}: ${stdout}${stderr}`
}

async function readLog(gitDir: string) {
  const output = await gitOutput(gitDir, [
    ...['log', '--topo-order', '--raw', '--no-abbrev', '--no-renames', '--root', '--diff-merges=first-parent'],
    `--format=%x01${['%H', '%P', '%ce', ...['Candidate', 'Neuron', 'Approved-By'].map(trailer)].join('%x02')}`,
    mainRef,
  ])
  return output
    .split('\u0001')
    .slice(1)
    .map((entry) => {
      const [head = '', ...changes] = entry.split('\n')
      const [oid = '', parents = '', committer = '', candidates = '', seqIds = '', approver = ''] = head.split('\u0002')
      const files = changes.flatMap((line) => {
        const [, , , after = '', , path = ''] = line.split(/[ \t]/)
        return path.startsWith('neurons/') && path.endsWith('.md') && !/^0+$/.test(after) ? [{ path, blob: after }] : []
      })
      return {
        ...{ oid, committer, candidates: split(candidates), seqIds: split(seqIds), files },
        parents: parents.split(' ').filter((parent) => parent !== ''),
        approvedBy: /<([^>]*)>$/.exec(approver)?.[1],
      }
    })
}

function trailer(name: string): string {
  return `%(trailers:key=${name},valueonly,separator=%x2c)`
}

async function listFiles(gitDir: string, ref: string, folder: string): Promise<{ path: string; blob: string }[]> {
  const { code, stdout } = await git(gitDir, ['ls-tree', '-r', '-z', ref, folder])
  if (code !== 0) return []
  return stdout
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [info = '', path = ''] = line.split('\t')
      return { path, blob: info.split(' ')[2] ?? '' }
    })
}

function frontMatter(text: string): FrontMatter {
  const end = text.indexOf('\n---', 4)
  const data: unknown = text.startsWith('---\n') && end > 0 ? parse(text.slice(4, end), { schema: 'failsafe' }) : {}
  return Object.fromEntries(Object.entries(data ?? {}))
}

function split(list: string): string[] {
  return list === '' ? [] : list.split(',')
}

import { spawn } from 'node:child_process'

export type GitRun = { code: number | null; stdout: string; stderr: string }

const identity = ['-c', 'user.name=Native', '-c', 'user.email=native@example.com', '-c', 'gc.autoDetach=false']

/**
 * Runs the machine's own git beside the server, to its end.
 * @param onStart is told the process group: killing `-pid` kills git with all that it has started.
 */
export function git(
  dir: string,
  args: readonly string[],
  { input = '', onStart }: { input?: string; onStart?: (group: number) => void } = {},
): Promise<GitRun> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...identity, ...args], { cwd: dir, detached: true })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.on('error', reject)
    child.on('close', (code) => {
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() })
    })
    if (child.pid !== undefined) onStart?.(child.pid)
  })
}

/** The output of a git command that must succeed. */
export async function gitOutput(dir: string, args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await git(dir, args, input === undefined ? {} : { input })
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${stderr}`)
  return stdout
}

export async function gitLines(dir: string, args: readonly string[], input?: string): Promise<string[]> {
  return (await gitOutput(dir, args, input)).split('\n').filter((line) => line !== '')
}

/** The text of many blobs at once. */
export async function readBlobs(dir: string, oids: Iterable<string>): Promise<Map<string, string>> {
  const wanted = [...new Set(oids)]
  const output = Buffer.from(await gitOutput(dir, ['cat-file', '--batch'], wanted.map((oid) => `${oid}\n`).join('')))
  const texts = new Map<string, string>()
  let offset = 0
  for (const oid of wanted) {
    const end = output.indexOf('\n', offset)
    const [, type, size = ''] = output.toString('utf8', offset, end).split(' ')
    if (type !== 'blob') throw new Error(`${oid} is ${type}`)
    texts.set(oid, output.toString('utf8', end + 1, end + 1 + Number(size)))
    offset = end + 1 + Number(size) + 1
  }
  return texts
}

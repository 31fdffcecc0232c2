import { promises as fs } from 'node:fs'
import { dirname, join } from 'node:path'
import git from 'isomorphic-git'
import { openContext } from '../src/app/open-context.ts'
import { createKnowledgeBase } from '../src/kb/create-kb.ts'
import { approveCandidate } from '../src/queue/decide-candidate.ts'
import { submitCandidate } from '../src/queue/submit-candidate.ts'
import type { Caller } from '../src/rules/access/caller.ts'
import { noteAim } from './support/aims.ts'
import { durableGit, inTurn, milliseconds, show, type Timing, workFolder } from './support/measure.ts'
import { generateNotes } from './support/notes.ts'

const inFlight = 64
const main = 'refs/heads/main'

/** File system that waits for isomorphic-git's writes: by default they are left to the operating system. */
const syncedFs = {
  promises: {
    ...fs,
    writeFile: async (path: string, data: Uint8Array | string) => {
      await fs.mkdir(dirname(path), { recursive: true })
      const file = await fs.open(path, 'w')
      await file.writeFile(data)
      await file.sync()
      await file.close()
    },
  },
}

/** Approvals against the same commits made by others; everything is on the disk when it is counted. */
export async function benchApprovals(): Promise<string[]> {
  const dir = workFolder()
  const ctx = await openContext({ dataDir: join(dir, 'data') })
  const { gitDir } = await createKnowledgeBase(ctx, { tenant: 'bench', slug: 'bench' })
  const tenantId = (await ctx.tenants.find('bench'))?.id ?? ''
  const curator: Caller = { id: 'key:bench', name: 'Bench', tenantId, role: 'curator', connectors: [] }
  const notes = generateNotes(4_000)
  let next = 0
  const submit = async () => {
    const { title = '', text = '' } = notes[next++ % notes.length] ?? {}
    const candidate = {
      knowledgeBaseId: 'bench',
      kind: 'external-feed' as const,
      title: `${title} ${next}`,
      content: text,
    }
    const rest = { metadata: null, confidence: null, impactEstimate: null }
    return (await submitCandidate(ctx, curator, { ...candidate, ...rest })).candidateId
  }
  const approve = (id: string) => approveCandidate(ctx, curator, id, {})
  const peers = await makePeers(dir, gitDir)
  const texts = () => notes.slice(next, next + inFlight).map(({ text }, n) => ({ path: `${next + n}.md`, text }))

  const many = await inTurn(7, {
    ours: async () => {
      const ids = await Promise.all(Array.from({ length: inFlight }, submit))
      return milliseconds(() => Promise.all(ids.map(approve)))
    },
    isomorphic: () => milliseconds(() => peers.isomorphic(texts())),
    fastImport: () => milliseconds(() => peers.fastImport(texts())),
  })
  const one = await inTurn(30, {
    ours: async () => {
      const id = await submit()
      return milliseconds(() => approve(id))
    },
    commitTree: () => milliseconds(() => peers.commitTree()),
  })
  await ctx.close()
  const ratio = (a: Timing, b: Timing) => a.median / b.median
  const row = (name: string, ours: Timing, peer: Timing, measured: number, aim: string) =>
    `| ${name} | ${show(ours)} | ${show(peer)} | ${measured.toFixed(2)}× | ${aim} |`
  const [toIso, toImport, alone] = [
    ratio(many.isomorphic, many.ours),
    ratio(many.fastImport, many.ours),
    ratio(one.ours, one.commitTree),
  ]
  return [
    '| durable, milliseconds: median (min–max) | Ganglion | peer | ratio | aim |',
    '|---|---|---|---|---|',
    row(
      `${inFlight} approvals in flight; isomorphic-git, a commit with fsync each: times as fast`,
      many.ours,
      many.isomorphic,
      toIso,
      noteAim(`${inFlight} approvals, speed`, toIso, { atLeast: 12 }, '× isomorphic-git'),
    ),
    row(
      `${inFlight} approvals in flight; one \`git fast-import\` of ${inFlight} commits: times as fast`,
      many.ours,
      many.fastImport,
      toImport,
      noteAim(`${inFlight} approvals, speed`, toImport, { atLeast: 0.9 }, '× one `fast-import`'),
    ),
    row(
      'one approval alone; `git commit-tree` + `git update-ref`: times as long',
      one.ours,
      one.commitTree,
      alone,
      noteAim('one approval', alone, { atMost: 1.2 }, '× `commit-tree` + `update-ref`'),
    ),
    '',
    `Resident memory of the process afterwards: ${Math.round(process.memoryUsage().rss / 1024 / 1024)} MB.`,
  ]
}

type File = { path: string; text: string }

/** Each peer commits to a copy of its own of the repository as the approvals found it. */
async function makePeers(dir: string, gitDir: string) {
  const copy = async (name: string) => {
    const target = join(dir, name)
    await fs.cp(gitDir, target, { recursive: true })
    return target
  }
  const [isoDir, importDir, treeDir] = [await copy('iso.git'), await copy('import.git'), await copy('tree.git')]
  const author = { name: 'Bench', email: 'bench@example.com' }
  return {
    isomorphic: async (files: readonly File[]) => {
      const repo = { fs: syncedFs, gitdir: isoDir }
      for (const { path, text } of files) {
        const head = await git.resolveRef({ ...repo, ref: main })
        const blob = await git.writeBlob({ ...repo, blob: Buffer.from(text) })
        const tree = await withFile(repo, head, path, blob)
        await git.commit({ ...repo, message: `Add ${path}`, author, tree, parent: [head], ref: main })
      }
    },
    fastImport: async (files: readonly File[]) => {
      const head = durableGit(importDir, ['rev-parse', main])
      const commits = files.map(({ path, text }, n) => {
        const from = n === 0 ? `from ${head}\n` : ''
        const data = `M 100644 inline neurons/2026/11/${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`
        return `commit ${main}\ncommitter Bench <bench@example.com> 1780000000 +0000\ndata 4\nAdd \n${from}${data}`
      })
      durableGit(importDir, ['fast-import', '--quiet'], commits.join(''))
    },
    commitTree: async () => {
      const head = await fs.readFile(join(treeDir, main), 'utf8')
      const commit = durableGit(treeDir, ['commit-tree', '-m', 'Add', '-p', head.trim(), `${head.trim()}^{tree}`])
      durableGit(treeDir, ['update-ref', main, commit, head.trim()])
    },
  }
}

/** The commit's tree with a file in `neurons/2026/11`, as isomorphic-git writes it. */
async function withFile(repo: { fs: typeof syncedFs; gitdir: string }, head: string, path: string, blob: string) {
  const folders = ['', 'neurons', 'neurons/2026', 'neurons/2026/11']
  const trees = await Promise.all(
    folders.map(async (filepath) => {
      const at = filepath === '' ? {} : { filepath }
      return git.readTree({ ...repo, oid: head, ...at }).then(
        ({ tree }) => tree,
        () => [],
      )
    }),
  )
  let entry = { mode: '100644', path, oid: blob, type: 'blob' as 'blob' | 'tree' }
  for (const [depth, tree] of [...trees.entries()].reverse()) {
    const oid = await git.writeTree({ ...repo, tree: [...tree.filter((other) => other.path !== entry.path), entry] })
    entry = { mode: '040000', path: folders[depth]?.split('/').at(-1) ?? '', oid, type: 'tree' }
  }
  return entry.oid
}

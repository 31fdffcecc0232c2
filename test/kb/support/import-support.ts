import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type OpenContext, openContext } from '../../../src/app/open-context.ts'
import { createKnowledgeBase, operator } from '../../../src/kb/create-kb.ts'
import type { KnowledgeBase } from '../../../src/kb/knowledge-base.ts'
import { parseCandidate } from '../../../src/markdown/file/candidate-file.ts'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { type ImportOptions, type ImportReport, importDirectory } from '../../../src/operate/import/import-directory.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import type { Caller } from '../../../src/rules/access/caller.ts'
import type { Candidate } from '../../../src/rules/candidates/candidate.ts'
import { nativeGit, nativeGitBytes } from '../../git/support/native-git.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'

export type Importing = {
  ctx: OpenContext
  curator: Caller
  reader: Caller
  kb: KnowledgeBase
  gitDir: string
  /** The folder that is imported. */
  vault: string
  run(options?: Partial<ImportOptions>): Promise<ImportReport>
}

/** An empty knowledge base `notes`, and a folder of these files to import into it. */
export async function importing(files: Record<string, string | Buffer>): Promise<Importing> {
  const ctx = await openContext({ dataDir: join(tempDir(), 'data'), threads })
  onTestFinished(() => ctx.close())
  const { id, gitDir } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'notes' })
  const tenant = await ctx.tenants.ensure('acme', new Date())
  const kb = await ctx.kb(tenant.id, id)
  const vault = join(tempDir(), 'vault')
  for (const [path, content] of Object.entries(files)) put(vault, path, content)
  const curator: Caller = { id: 'key:c', name: 'Cleo', tenantId: tenant.id, role: 'curator', connectors: [] }
  const reader: Caller = { ...curator, id: 'key:r', role: 'reader' }
  const run: Importing['run'] = async (options) => {
    await kb.sync()
    return importDirectory(kb, given.vault, { actor: operator, now: ctx.now, ...options })
  }
  const given = { ctx, curator, reader, kb, gitDir, vault, run }
  return given
}

export function put(folder: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}

export function remove(folder: string, path: string): void {
  rmSync(join(folder, path))
}

/** Expects what holds after every import: sound objects, a candidate on the queue behind every Neuron, no seqId or candidate twice. */
export function expectSound(given: Importing): void {
  nativeGit(given.gitDir, ['fsck', '--strict', '--full'])
  const queue = new Set(filesOf(given, 'refs/ganglion/queue').map((path) => path.slice(6, -3)))
  const neurons = textsOf(given, 'main', 'neurons')
    .filter(({ path }) => path.endsWith('.md'))
    .map(({ text }) => parseNeuronFile(text).fields)
  expect(neurons.filter(({ candidate = '' }) => !queue.has(candidate))).toEqual([])
  expect(new Set(neurons.map(({ seqId }) => seqId)).size).toBe(neurons.length)
  expect(new Set(neurons.map(({ candidate }) => candidate)).size).toBe(neurons.length)
}

/** Every candidate on the queue. */
export function candidatesOf(given: Importing): Candidate[] {
  return textsOf(given, 'refs/ganglion/queue').map(({ text }) => parseCandidate(text))
}

/** The Neuron that a file has become, as the API answers it. */
export async function neuronOf(given: Importing, path: string) {
  const [, seqId = ''] = /^seqId: (.+)$/m.exec(fileOf(given, path)) ?? []
  return readNeuron(given.ctx, given.curator, { kb: 'notes', seqId })
}

/** A file of main, byte for byte. */
export function fileOf({ gitDir }: Importing, path: string): string {
  return nativeGit(gitDir, ['cat-file', 'blob', `main:${path}`])
}

export function filesOf({ gitDir }: Importing, ref: string, folder = ''): string[] {
  const output = nativeGit(gitDir, ['ls-tree', '-r', '-z', '--name-only', `${ref}:${folder}`])
  return output.split('\0').filter((path) => path !== '')
}

/** The files of a folder with their texts, without the last line ends. Read by one git. */
function textsOf({ gitDir }: Importing, ref: string, folder = ''): { path: string; text: string }[] {
  const files = nativeGit(gitDir, ['ls-tree', '-r', '-z', `${ref}:${folder}`])
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => /^\d+ blob (?<oid>\w+)\t(?<path>.*)$/s.exec(line)?.groups ?? {})
  const oids = files.map(({ oid }) => `${oid}\n`).join('')
  const blobs = nativeGitBytes(gitDir, ['cat-file', '--batch'], oids)
  let at = 0
  return files.map(({ path = '' }) => {
    const start = blobs.indexOf('\n', at) + 1
    const [, , size] = blobs.toString('utf8', at, start).split(' ')
    at = start + Number(size) + 1
    return { path, text: blobs.toString('utf8', start, at - 1).trimEnd() }
  })
}

export function commitCount({ gitDir }: Importing, ref: string): number {
  return Number(nativeGit(gitDir, ['rev-list', '--count', ref]))
}

/** Works on a clone, as a curator does, and pushes the commit. */
export function pushAsCurator({ gitDir }: Importing, edit: (clone: string) => void): void {
  const clone = tempDir()
  nativeGit(clone, ['clone', '--quiet', gitDir, '.'])
  edit(clone)
  nativeGit(clone, ['add', '--all'])
  nativeGit(clone, ['commit', '--quiet', '--message', 'Edit'])
  nativeGit(clone, ['push', '--quiet'])
}

import { chmodSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenContext, openContext } from '../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { ganglion as command, ganglionProcess } from '../cli/support.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { candidate } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { tempDir } from '../support/temp.ts'

type Kb = { gitDir: string; index: string; curator: Caller; text: string }
type Damaged = { dataDir: string; hurt: Kb; whole: Kb }

const first = 'handbook_00000001'

/** Two tenants with a knowledge base of the same name and a Neuron of the same seqId each, and nothing running. */
async function twoKnowledgeBases(): Promise<Damaged> {
  const dataDir = tempDir()
  const ganglion = await openContext({ dataDir })
  const made = async (tenant: string): Promise<Kb> => {
    const { gitDir, id } = await createKnowledgeBase(ganglion, { tenant, slug: 'handbook' })
    const tenantId = (await ganglion.tenants.find(tenant))?.id ?? ''
    const curator: Caller = { id: 'key:key', name: 'Curator', tenantId, role: 'curator', connectors: [] }
    const text = `What ${tenant} knows, and nobody else.`
    await addNeuron(ganglion, curator, text)
    return { gitDir, index: join(dataDir, 'index', id), curator, text }
  }
  const [hurt, whole] = [await made('hurt'), await made('whole')]
  await ganglion.close()
  return { dataDir, hurt, whole }
}

async function addNeuron(ganglion: OpenContext, caller: Caller, content: string): Promise<string> {
  const { candidateId } = await submitCandidate(ganglion, caller, candidate({ content }))
  return (await approveCandidate(ganglion, caller, candidateId, {})).seqId
}

async function open(dataDir: string): Promise<OpenContext> {
  const ganglion = await openContext({ dataDir })
  onTestFinished(() => ganglion.close())
  return ganglion
}

function read(ganglion: OpenContext, { curator }: Kb, seqId = first): Promise<{ content: string }> {
  return readNeuron(ganglion, curator, { kb: 'handbook', seqId })
}

/** The damage is told and stays where it is: what the other knowledge base holds is read and written as ever. */
async function expectTold({ dataDir, hurt, whole }: Damaged): Promise<void> {
  const ganglion = await open(dataDir)
  const head = () => readFileSync(join(hurt.gitDir, 'refs', 'heads', 'main'), { encoding: 'utf8', flag: 'a+' })
  const before = head()
  await expect(read(ganglion, hurt)).rejects.toThrow()
  expect(head()).toBe(before)
  expect((await read(ganglion, whole)).content).toBe(whole.text)
  expect(await addNeuron(ganglion, whole.curator, 'More.')).toBe('handbook_00000002')
  await expectVerifyToFail(dataDir)
}

async function expectVerifyToFail(dataDir: string): Promise<void> {
  const { code, stdout } = await command(['verify', '--json', '--data', dataDir])
  expect([code, JSON.parse(stdout)]).toEqual([1, expect.anything()])
}

test('a truncated pack is told, and damages nobody else', async () => {
  const damaged = await twoKnowledgeBases()
  const { gitDir } = damaged.hurt
  nativeGit(gitDir, ['repack', '-q', '-a', '-d'])
  const folder = join(gitDir, 'objects', 'pack')
  const pack = readdirSync(folder).find((name) => name.endsWith('.pack')) ?? ''
  chmodSync(join(folder, pack), 0o644)
  truncateSync(join(folder, pack), 100)
  await expectTold(damaged)
})

test('an emptied packed-refs is told, no second history is begun, and the refs put back are all it takes', async () => {
  const damaged = await twoKnowledgeBases()
  const { hurt, dataDir } = damaged
  nativeGit(hurt.gitDir, ['pack-refs', '--all'])
  const file = join(hurt.gitDir, 'packed-refs')
  const refs = readFileSync(file)
  writeFileSync(file, '')
  const ganglion = await open(dataDir)
  await expect(read(ganglion, hurt)).rejects.toThrow()
  await expect(addNeuron(ganglion, hurt.curator, 'A second history.')).rejects.toThrow()
  expect(nativeGit(hurt.gitDir, ['for-each-ref'])).toBe('')
  await expectVerifyToFail(dataDir)
  writeFileSync(file, refs)
  expect((await read(ganglion, hurt)).content).toBe(hurt.text)
  expect(await addNeuron(ganglion, hurt.curator, 'More.')).toBe('handbook_00000002')
})

test('a corrupted object is told where it is asked for, and hides nothing else', async () => {
  const { dataDir, hurt, whole } = await twoKnowledgeBases()
  const path = nativeGit(hurt.gitDir, ['ls-tree', '-r', '--name-only', 'main', 'neurons'])
  const oid = nativeGit(hurt.gitDir, ['rev-parse', `main:${path}`])
  const pack = join(hurt.gitDir, 'objects', 'pack')
  const before = await open(dataDir)
  const second = await addNeuron(before, hurt.curator, 'A second Neuron.')
  await before.close()
  for (const name of readdirSync(pack).filter((file) => file.endsWith('.pack'))) {
    nativeGit(hurt.gitDir, ['unpack-objects', '-q'], takeAway(pack, name))
  }
  const loose = join(hurt.gitDir, 'objects', oid.slice(0, 2), oid.slice(2))
  chmodSync(loose, 0o644)
  writeFileSync(loose, 'not what it was')
  const ganglion = await open(dataDir)
  await expect(read(ganglion, hurt)).rejects.toThrow()
  expect((await read(ganglion, hurt, second)).content).toBe('A second Neuron.')
  expect((await read(ganglion, whole)).content).toBe(whole.text)
  await expectVerifyToFail(dataDir)
})

/** A pack's bytes; git unpacks only what it does not have. */
function takeAway(folder: string, name: string): Buffer {
  const data = readFileSync(join(folder, name))
  rmSync(join(folder, name), { force: true })
  rmSync(join(folder, name.replace(/\.pack$/, '.idx')), { force: true })
  return data
}

test.each([
  { damage: 'torn in its middle', hurtIt: (file: string) => writeFileSync(file, torn(readFileSync(file))) },
  { damage: 'cut short', hurtIt: (file: string) => truncateSync(file, 5_000) },
  { damage: 'emptied', hurtIt: (file: string) => truncateSync(file, 0) },
  { damage: 'no database at all', hurtIt: (file: string) => writeFileSync(file, 'x'.repeat(10_000)) },
])('a projection that is $damage is built again at the next start', async ({ hurtIt }) => {
  const { dataDir, hurt, whole } = await twoKnowledgeBases()
  hurtIt(join(hurt.index, 'knowledge.db'))
  const ganglion = await open(dataDir)
  expect((await read(ganglion, hurt)).content).toBe(hurt.text)
  expect(await addNeuron(ganglion, hurt.curator, 'More.')).toBe('handbook_00000002')
  expect((await read(ganglion, whole)).content).toBe(whole.text)
})

/** Pages in the middle of a database, overwritten. */
function torn(database: Buffer): Buffer {
  return Buffer.from(database).fill(0x5a, 4096, database.length - 4096)
}

test('a deleted folder of indexes is built again', async () => {
  const { dataDir, hurt, whole } = await twoKnowledgeBases()
  rmSync(join(dataDir, 'index'), { recursive: true })
  const ganglion = await open(dataDir)
  for (const kb of [hurt, whole]) expect((await read(ganglion, kb)).content).toBe(kb.text)
})

test('a database of operational state that is none is an error, and is left as it is', async () => {
  const { dataDir } = await twoKnowledgeBases()
  const file = join(dataDir, 'ganglion.db')
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
  writeFileSync(file, 'x'.repeat(10_000))
  const { code, stderr } = await ganglionProcess(['serve', '--data', dataDir], { GANGLION_PORT: '0' })
  expect([code, stderr]).toEqual([1, expect.stringContaining('not a database')])
  expect(readFileSync(file, 'utf8')).toBe('x'.repeat(10_000))
})

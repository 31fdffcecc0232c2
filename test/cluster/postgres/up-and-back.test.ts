import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { backup } from '../../../src/operate/backup/backup.ts'
import { restore } from '../../../src/operate/backup/restore.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { kbSearch } from '../../../src/search/kb/kb-search.ts'
import { sourceTexts } from '../../../src/sources/ingest/source-texts.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { eventually } from '../../support/eventually.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { crawl } from '../support/crawl.ts'
import { type Deployment, kinds, type Stores, startDeployment } from '../support/deployment.ts'
import { type Access, approve, populate, settled, submit, upload } from '../support/populate.ts'

const execute = promisify(execFile)

/** All that others see of a deployment. */
async function look(deployment: Deployment, access: Access) {
  const { ctx } = deployment
  const read = await ctx.sources.ingested()
  const lacking = async () => {
    const texts = await Promise.all(read.map((source) => sourceTexts(ctx).find(source)))
    return texts.filter((text) => text === undefined).length
  }
  await expect.poll(lacking).toBe(0) // a restored server reads the Sources again
  for (const kb of await ctx.kbs.all()) await kbSearch(kb, ctx).follow()
  return {
    answers: await crawl(deployment, access),
    clone: await cloned(deployment, access),
    events: await eventsOf(deployment),
  }
}

/** The refs of a clone, which is sound. */
async function cloned({ url }: Deployment, { keys }: Access): Promise<string> {
  const clone = join(tempDir(), 'clone.git')
  const header = `http.extraHeader=Authorization: Bearer ${keys.curator}`
  await execute('git', ['-c', header, 'clone', '--quiet', '--mirror', `${url}/git/acme/handbook.git`, clone])
  expect(nativeGit(clone, ['fsck', '--full', '--strict'])).toBe('')
  return nativeGit(clone, ['for-each-ref'])
}

async function eventsOf({ ctx }: Deployment) {
  const [tenant] = await ctx.tenants.list()
  return ctx.events.after(tenant?.id ?? '', 0, 10_000)
}

/** A backup of a deployment that runs, made by another process, which has nothing but the addresses where they are enough. */
async function backedUp({ dataDir, ...addresses }: Stores): Promise<string> {
  const ctx = await openContext({ ...addresses, dataDir: addresses.objects ? tempDir() : dataDir, threads })
  const dir = join(tempDir(), 'backup')
  await backup(ctx, dir, { version: '1.2.3' }).finally(() => ctx.close())
  return dir
}

/** Makes a deployment from a backup, in which everything is as it was. */
async function expectSame(dir: string, stores: Stores, access: Access, seen: Awaited<ReturnType<typeof look>>) {
  await restore(dir, stores, { isMove: true })
  const restored = await startDeployment(stores)
  const found = await look(restored, access)
  expect(seen.answers.size).toBeGreaterThan(100)
  expect([...found.answers.keys()]).toEqual([...seen.answers.keys()])
  // A preview names the commit that an approval would make now.
  const withoutCommits = (text = '') => text.replaceAll(/\b[0-9a-f]{40}\b/g, '')
  for (const [url, answer] of seen.answers) {
    const compared = url.includes('/preview/') ? withoutCommits : (text = '') => text
    expectEqual(url, compared(found.answers.get(url)), compared(answer))
  }
  expect([found.clone, found.events]).toEqual([seen.clone, seen.events])
  expect((await verify(restored.ctx)).kbs.flatMap(({ problems }) => problems)).toEqual([])
  return restored
}

/** Shows no more of long texts than where they begin to differ. */
function expectEqual(name: string, found: string, wanted: string) {
  const at = Math.max(0, [...found].findIndex((character, n) => character !== wanted[n]) - 60)
  if (found !== wanted) expect([name, found.slice(at, at + 120)]).toEqual([name, wanted.slice(at, at + 120)])
}

/** Numbers go on where they were, and a request that was answered is answered the same. */
async function expectToGoOn(deployment: Deployment, access: Access, seen: Awaited<ReturnType<typeof look>>) {
  expect(await submit(deployment, access, { title: 'Once' }, 'once')).toBe(access.once)
  const named = [...seen.answers.keys()].flatMap((url) => [...url.matchAll(/neurons\/handbook\/handbook_(\d{8})/g)])
  const highest = Math.max(...named.map(([, number]) => Number(number)))
  const title = `Above ${highest}`
  const seqId = await approve(deployment, access, await submit(deployment, access, { title }))
  expect(seqId).toBe(`handbook_${String(highest + 1).padStart(8, '0')}`)
  await settled(deployment, await upload(deployment, access, `${title}.md`, `# ${title}\n\nText of a lead.\n`))
  await eventually(async () => {
    const ids = (await eventsOf(deployment)).map(({ id }) => id)
    expect(ids.length).toBeGreaterThan(seen.events.length + 3)
    expect(ids).toEqual(ids.map((_, n) => n + 1))
  })
}

test('a deployment moves from one machine to a cluster and back, and every answer is the same, byte for byte', async () => {
  const single = await kinds.single()
  let deployment = await startDeployment(single)
  const access = await populate(deployment)
  let stores: Stores = single
  for (const kind of ['cluster', 'rows', 'single'] as const) {
    const seen = await look(deployment, access)
    const dir = await backedUp(stores)
    if (kind === 'rows') await (await expectSame(dir, await kinds.single(), access, seen)).close()
    stores = await kinds[kind]()
    const restored = await expectSame(dir, stores, access, seen)
    await deployment.close()
    deployment = restored
    await expectToGoOn(deployment, access, seen)
  }
})

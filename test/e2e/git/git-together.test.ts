import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { fsck } from '../../../src/git/fsck.ts'
import { everyVersion } from '../../../src/kb/projection/version-queries.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { type Product, startProduct } from '../support.ts'
import { Clone, page } from './git-clone.ts'
import { approve, submitted } from './git-support.ts'

/** Milliseconds for which everybody writes; minutes on request. */
const together = Number(process.env.TOGETHER_SECONDS ?? 6) * 1000

/** A curator who writes a page, pulls, pushes, and tries again until it is taken. @returns the texts that were accepted. */
async function curatorAtWork(product: Product, name: string, until: number): Promise<string[]> {
  const token = await product.newKey('acme', 'curator')
  const clone = await Clone.of(product, token)
  const accepted: string[] = []
  for (let round = 0; Date.now() < until; round++) {
    const text = `${name} wrote this in round ${round}.`
    await clone.commit({
      [`neurons/${name}-${round % 5}.md`]: await edited(clone, `neurons/${name}-${round % 5}.md`, text),
    })
    while ((await clone.push('main')).code !== 0) {
      await clone.git('pull', '--quiet', '--rebase')
      if (Date.now() > until + 60_000) throw new Error(`${name} never got through`)
    }
    accepted.push(text)
    await clone.git('pull', '--quiet', '--rebase')
  }
  return accepted
}

async function edited(clone: Clone, path: string, text: string): Promise<string> {
  const known = await clone.run('show', `HEAD:${path}`)
  const title = path.slice('neurons/'.length, -'.md'.length)
  return known.code === 0
    ? `${known.stdout.slice(0, known.stdout.indexOf('\n---\n') + 5)}\n${text}\n`
    : page(title, text)
}

/** An app and a curator on the API. @returns the texts that were approved. */
async function appAtWork(product: Product, name: string, until: number): Promise<string[]> {
  const accepted: string[] = []
  for (let round = 0; Date.now() < until; round++) {
    const text = `${name} wrote this in round ${round}.`
    const { status } = await approve(product, await submitted(product, `${name} ${round}`, text))
    expect(status).toBe(200)
    accepted.push(text)
    await delay(300)
  }
  return accepted
}

test('two curators with git and two writers over HTTP work at once, and nothing is lost', {
  timeout: together * 2 + 120_000,
}, async () => {
  const errors: unknown[] = []
  const product = await startProduct({ onError: (error) => errors.push(error) })
  const until = Date.now() + together
  const accepted = await Promise.all([
    curatorAtWork(product, 'ada', until),
    curatorAtWork(product, 'bob', until),
    appAtWork(product, 'App', until),
    appAtWork(product, 'Bot', until),
  ])

  for (const texts of accepted) expect(texts.length).toBeGreaterThan(0)
  expect(errors).toEqual([])
  const { tenantId } = (await product.ctx.knowledgeBases.list())[0] ?? { tenantId: '' }
  const kb = await product.ctx.kb(tenantId, 'handbook')
  const versions = await Promise.all(
    everyVersion(kb.projection.read).map(async ({ blob, candidateId }) => ({
      candidateId,
      text: await kb.repository.readText(blob),
    })),
  )
  // Every accepted text is one version, and every version has a candidate of its own.
  for (const text of accepted.flat()) expect(versions.filter((version) => version.text.includes(text))).toHaveLength(1)
  expect(versions).toHaveLength(accepted.flat().length)
  expect(new Set(versions.map(({ candidateId }) => candidateId)).size).toBe(versions.length)
  expect(await fsck(product.gitDir, AbortSignal.timeout(60_000))).toEqual([])
  expect((await verify(product.ctx)).kbs.flatMap(({ problems }) => problems)).toEqual([])
})

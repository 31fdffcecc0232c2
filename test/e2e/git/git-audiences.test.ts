import { expect, test } from 'vitest'
import type { Role } from '../../../src/contract/vocabulary.ts'
import { neuronText } from '../../kb/support/written-neurons.ts'
import { tempDir } from '../../support/temp.ts'
import { type Product, startProduct } from '../support.ts'
import { addressOf, runGit } from './git-clone.ts'
import { outsideWriter } from './outside-writer.ts'

const served: [string, Role, boolean, string[]][] = [
  ['a reader key', 'reader', false, ['tool', 'public']],
  ['a reader key that was made for students', 'reader', true, ['tool', 'public', 'student']],
  ['an app key', 'app', false, ['tool', 'public', 'student']],
  ['a curator key', 'curator', false, ['curator', 'tool', 'public', 'student']],
]

async function schoolProduct() {
  const product = await startProduct()
  const pages = {
    'neurons/exam.md': neuronText(1, { title: 'Exam', audience: ['student'] }, 'Marigold for students.\n'),
    'neurons/desk.md': neuronText(2, { title: 'Desk', audience: ['tool'] }, 'Marigold for tools.\n'),
    'neurons/open.md': neuronText(3, { title: 'Open', audience: ['public'] }, 'Marigold for all.\n'),
  }
  await (await outsideWriter(product.ctx, product.kbId)).commit(new Map(Object.entries(pages)))
  const { id: tenantId } = await product.ctx.tenants.ensure('acme', new Date())
  const keyOf = async (role: Role, isForStudents: boolean) => {
    const audience = isForStudents ? ('student' as const) : null
    const key = { tenantId, name: role, role, connectors: [], expiresAt: null, audience }
    return (await product.ctx.apiKeys.create(key, new Date())).token
  }
  return { product, keyOf }
}

/** Titles that a key retrieves as an audience. */
async function retrieved({ request }: Product, as: string, audience: string | undefined): Promise<string[]> {
  const body = { query: 'marigold', ...(audience && { audience }) }
  const { body: answer } = await request('POST', '/api/v1/knowledge-bases/handbook/retrieve', { as, body })
  return (answer.chunks as { title: string }[]).map(({ title }) => title).sort()
}

const titles = { tool: ['Desk', 'Open'], public: ['Open'], student: ['Exam'], curator: ['Desk', 'Exam', 'Open'] }

test.each(served)(
  '%s is served as the audiences that it may ask for, and as tool for others',
  async (_, role, isForStudents, mayAsk) => {
    const { product, keyOf } = await schoolProduct()
    const as = await keyOf(role, isForStudents)
    expect((await product.request('GET', '/api/v1/me', { as })).body.audiences).toEqual(mayAsk)
    for (const [audience, seen] of Object.entries(titles)) {
      expect(await retrieved(product, as, audience)).toEqual(mayAsk.includes(audience) ? seen : titles.tool)
    }
    // What a key sees without asking is the same at every door.
    const own = role === 'curator' ? 'curator' : 'tool'
    const { body } = await product.request('GET', '/api/v1/knowledge-bases/handbook/search?q=marigold', { as })
    expect((body.documents as { title: string }[]).map(({ title }) => title).sort()).toEqual(titles[own])
    const exam = await product.request('GET', '/api/v1/neurons/handbook/handbook_00000001', { as })
    expect(exam.status).toBe(own === 'curator' ? 200 : 404)

    for (const audience of ['tool', 'public', 'student'] as const) {
      const address = addressOf(product, as).replace(/\.git$/, `@${audience}.git`)
      const dir = tempDir()
      const { code, stderr } = await runGit(dir, 'clone', '--quiet', address, 'clone')
      if (mayAsk.includes(audience)) {
        expect({ code, stderr }).toMatchObject({ code: 0 })
        const { stdout } = await runGit(`${dir}/clone`, 'ls-files')
        expect(stdout.split('\n').length).toBe(titles[audience].length)
      } else expect(stderr).toContain(`may not fetch what the audience ${audience} sees`)
    }
  },
)

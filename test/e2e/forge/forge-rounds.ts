import { expect } from 'vitest'
import { nativeGit } from '../../git/support/native-git.ts'
import { approve, candidateDetail, candidates, submitted } from '../git/git-support.ts'
import type { bridgedTo, FakeForge } from './forge-support.ts'

type Bridged = Awaited<ReturnType<typeof bridgedTo<FakeForge>>>
/** A candidate, and what must have been decided on it. */
type Followed = { id: string; title: string; status: 'pending' | 'approved' | 'dismissed'; decisions: unknown[] }

const kinds = ['chat', 'lint-finding', 'contradiction-alert', 'gap-detection']

/**
 * Makes work for a bridge again and again, so that each comparison has calls of every kind to send. What is left open by one round is
 * decided in the next.
 */
export class ForgeRounds {
  readonly #bridged: Bridged
  readonly #all: Followed[] = []
  #pages: { number: number; title: string; status: Followed['status'] }[] = []

  constructor(bridged: Bridged) {
    this.#bridged = bridged
  }

  /** Candidates that wait, each with a pull request. */
  async begin(): Promise<void> {
    for (const n of [1, 2, 3, 4, 5, 6, 7]) await this.#submit(`Begun ${n}`)
    await this.#bridged.sync()
    const [first] = this.#all
    if (first !== undefined) await this.#dismiss(first, 'Not yet.')
    await this.#bridged.sync()
    await this.agreed()
  }

  /** People decide, write and propose on both sides. */
  async work(name: string): Promise<void> {
    const { product, forge } = this.#bridged
    const open = (await forge.pulls()).filter(({ state }) => state === 'open')
    const numberOf = ({ id }: Followed) => Number(open.find((pull) => idIn(pull) === id)?.number)
    const dismissed = this.#all.filter(({ status, decisions }) => status === 'dismissed' && decisions.length === 1)
    const waiting = this.#all.filter(({ status }) => status === 'pending')
    const [merge, close, approveHere, dismiss, edit, lose] = waiting
    const [reopen] = dismissed
    if (!(merge && close && approveHere && dismiss && edit && lose && reopen)) throw new Error('Too little waits.')

    await forge.ready('ada', numberOf(merge))
    await forge.merge('ada', numberOf(merge), 'squash')
    merge.status = 'approved'
    merge.decisions.push({ action: 'approve', by: 'ada' })
    await forge.comment('bob', numberOf(close), `Not this one: ${name}.`)
    await forge.close('bob', numberOf(close))
    close.status = 'dismissed'
    for (const action of ['comment', 'dismiss']) close.decisions.push({ action, reason: `Not this one: ${name}.` })
    await approve(product, approveHere.id)
    approveHere.status = 'approved'
    approveHere.decisions.push({ action: 'approve', by: 'curator' })
    await this.#dismiss(dismiss, `No: ${name}.`)
    const curator = { as: product.tokens.curator }
    await product.request('POST', `/api/v1/queue/candidates/${reopen.id}/reopen`, curator)
    reopen.status = 'pending'
    reopen.decisions.push({ action: 'reopen' })
    this.#edit(edit, open, name)
    await forge.comment('eve', numberOf(edit), `Why ${name}?`)
    edit.decisions.push({ action: 'comment', by: 'eve', reason: `Why ${name}?` })
    const said = { ...curator, body: { comment: `So: ${name}.` } }
    await product.request('POST', `/api/v1/queue/candidates/${edit.id}/comment`, said)
    edit.decisions.push({ action: 'comment', by: 'curator', reason: `So: ${name}.` })
    await this.#lose(lose, numberOf(lose))
    await this.#propose(name)
    // Their kind is a label that the forge does not have yet.
    const kind = kinds[this.#pages.length % kinds.length]
    for (const n of [1, 2]) await this.#submit(`New ${name} ${n}`, { kind })
    await this.#submit(`Red ${name}`, { metadata: { actionZone: 'red' } })
  }

  /** Both sides have what was decided, each once, and nothing else. */
  async agreed(): Promise<void> {
    const { product, forge, link } = this.#bridged
    const pulls = await forge.pulls()
    const open = pulls.filter(({ state, body }) => state === 'open' && idIn({ body }) !== undefined)
    const waiting = this.#all.filter(({ status }) => status === 'pending')
    expect(open.map(idIn).sort()).toEqual(waiting.map(({ id }) => id).sort())
    for (const { id, status, decisions, title } of this.#all) {
      const detail = await candidateDetail(product, id)
      expect({ title, status: detail.status, decisions: inAnyOrder(detail.decisions) }).toMatchObject({
        ...{ title, status },
        decisions: inAnyOrder(decisions),
      })
    }
    for (const pull of open) {
      const number = Number(pull.number)
      expect([pull.title, await forge.labels(number)]).toEqual([pull.title, expect.arrayContaining(['ganglion'])])
      const { ref } = pull.head as { ref: string }
      const [path = ''] = nativeGit(forge.git.dir, ['diff', '--name-only', `main...${ref}`]).split('\n')
      const text =
        nativeGit(forge.git.dir, ['show', `${ref}:${path}`])
          .split('\n')
          .at(-1) ?? ''
      expect(String(pull.body)).toContain(text)
    }
    for (const { number } of pulls) {
      const said = (await forge.comments(Number(number))).map(({ body }) => body)
      expect(said).toEqual([...new Set(said)])
    }
    for (const { title, status } of this.#pages) {
      expect(await candidates(product, status)).toContainEqual(expect.objectContaining({ title }))
    }
    expect(nativeGit(forge.git.dir, ['rev-parse', 'main'])).toBe(nativeGit(product.gitDir, ['rev-parse', 'main']))
    const rows = await product.ctx.forgePulls.list(link.id)
    expect(rows.filter(({ number }) => number === null)).toEqual([])
    expect(rows.filter(({ state }) => state === 'open')).toHaveLength(waiting.length + Math.min(1, this.#pages.length))
    expect(await product.ctx.forgeLinks.find(link.id)).toMatchObject({ failingSince: null, note: null })
    expect(forge.wrong).toEqual([])
  }

  async #submit(title: string, more: Record<string, unknown> = {}): Promise<void> {
    const id = await submitted(this.#bridged.product, title, `What ${title} is.`, more)
    this.#all.push({ id, title, status: 'pending', decisions: [] })
  }

  async #dismiss(followed: Followed, reason: string): Promise<void> {
    const { product } = this.#bridged
    const path = `/api/v1/queue/candidates/${followed.id}/dismiss`
    await product.request('POST', path, { as: product.tokens.curator, body: { reason } })
    followed.status = 'dismissed'
    followed.decisions.push({ action: 'dismiss', reason })
  }

  /** A reviewer commits to the branch. */
  #edit(followed: Followed, pulls: readonly Record<string, unknown>[], name: string): void {
    const { git } = this.#bridged.forge
    const pull = pulls.find((each) => idIn(each) === followed.id)
    const { ref } = pull?.head === undefined ? { ref: '' } : (pull.head as { ref: string })
    const [path = ''] = nativeGit(git.dir, ['diff', '--name-only', `main...${ref}`]).split('\n')
    git.commit(ref, { [path]: `${nativeGit(git.dir, ['show', `${ref}:${path}`])}\n\nSaid better: ${name}.\n` })
    followed.decisions.push({ action: 'revise' })
  }

  /** It is closed there before it is noted here that it was opened: what is not known to be a decision on the candidate is none. */
  async #lose({ id }: Followed, number: number): Promise<void> {
    const { forge, link, product } = this.#bridged
    const { forgePulls } = product.ctx
    const row = (await forgePulls.list(link.id)).find((each) => each.number === number && each.candidates.includes(id))
    if (row === undefined) throw new Error(`There is no row of ${id}.`)
    await forgePulls.put(link.id, { ...row, number: null, seen: null, text: null, reported: null })
    await forge.close('bob', number)
  }

  /** Opens a pull request as a person, and closes the previous one. */
  async #propose(name: string): Promise<void> {
    const { forge } = this.#bridged
    for (const page of this.#pages.filter(({ status }) => status === 'pending')) {
      await forge.close('ada', page.number)
      page.status = 'dismissed'
    }
    const slug = name.replace(/\W+/g, '-')
    const title = `Mine ${slug}`
    forge.git.commit(slug, { [`neurons/${slug}.md`]: `---\ntitle: ${title}\n---\n\nBy Ada.\n` })
    this.#pages.push({ number: await forge.openPull('ada', slug, title), title, status: 'pending' })
  }
}

function idIn({ body }: Record<string, unknown>): string | undefined {
  return /ganglion:pull (\S+)/.exec(String(body))?.[1]
}

function inAnyOrder(decisions: unknown): unknown[] {
  const key = (decision: unknown) => {
    const { action, reason } = decision as { action: string; reason?: string }
    return `${action} ${reason}`
  }
  return (decisions as unknown[]).toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Forge, ForgeError } from '../../src/forge/forge-adapter.ts'
import type { Visibility } from './support/forge-people.ts'

/** Actions of people and programs on a forge, and what can be seen there. Each adapter's test creates one, with a fresh repository. */
export type ForgeHarness = {
  forge: Forge
  /** Makes a branch of the repository with a commit of its own. @returns its tip */
  branch(name: string): Promise<string>
  /** Opens a pull request as a person, whose login is `ada`. */
  openPull(branch: string, title: string, base?: string): Promise<number>
  close(number: number): Promise<unknown>
  reopen(number: number): Promise<unknown>
  /** @returns the commit that this leaves on main. */
  merge(number: number): Promise<string>
  comment(number: number, text: string): Promise<unknown>
  review(number: number, text: string): Promise<unknown>
  /** Returns the checks of a commit as people see them there. */
  reports(head: string): Promise<{ outcome: 'passed' | 'failed' | 'waiting'; findings: number }[]>
  labels(number: number): Promise<string[]>
  /** Returns the accounts that were asked to review. */
  reviewers(number: number): Promise<string[]>
  /** Sets who may read the repository. */
  show(to: Visibility): void
  /** The next request is answered so. */
  failNext(status: number, headers?: Record<string, string>, body?: unknown): void
  /** The next request is never answered; `arrived` is called when it has come. */
  hangNext(arrived: () => void): void
  /** Returns the number of requests so far. */
  requests(): number
  /** Returns requests and answers of the adapter that the forge's published description does not have. */
  undescribed(): string[]
}

/** Time that the tested adapters wait for an answer. */
export const timeoutMs = 10_000

/** Tests what every adapter of {@link Forge} must do. */
export function describeForge(name: string, start: () => Promise<ForgeHarness>): void {
  const fresh = (branch: string) => ({
    branch,
    base: 'main',
    title: `Add ${branch}`,
    body: 'Why',
    labels: ['ganglion'],
    isDraft: false,
  })

  describe(name, () => {
    test('tells who writes, and how git reaches the repository', async () => {
      const { forge } = await start()
      expect((await forge.who()).id).not.toBe('')
      const { url, password } = await forge.access()
      expect(new URL(url).password).toBe('')
      expect(password).not.toBe('')
    })

    test('tells whether others can read the repository', async () => {
      const { forge, show, undescribed } = await start()
      for (const visibility of ['private', 'internal', 'public'] as const) {
        show(visibility)
        expect([visibility, await forge.isPublic()]).toEqual([visibility, visibility !== 'private'])
      }
      expect(undescribed()).toEqual([])
    })

    test('opens a pull request, finds it, changes its texts, and keeps the labels that people give', async () => {
      const { forge, branch, labels, undescribed } = await start()
      const tip = await branch('ganglion/one')
      const opened = await forge.open({ ...fresh('ganglion/one'), labels: ['ganglion', 'zone: yellow'] })
      expect(opened).toMatchObject({
        state: 'open',
        branch: 'ganglion/one',
        isOwnBranch: true,
        base: 'main',
        head: tip,
      })
      expect(await forge.openPulls()).toMatchObject([{ number: opened.number, title: 'Add ganglion/one', body: 'Why' }])
      expect(await forge.pull(opened.number)).toMatchObject({ number: opened.number, isDraft: false })
      expect(await forge.pullOfBranch('ganglion/one', 'main')).toMatchObject({ number: opened.number })
      expect(await forge.pullOfBranch('ganglion/on', 'main')).toBeUndefined()

      await forge.update(opened.number, { title: 'Ünïcödé 🎉', body: '', labels: ['more'] })
      expect(await forge.pull(opened.number)).toMatchObject({ title: 'Ünïcödé 🎉', body: '' })
      expect((await labels(opened.number)).sort()).toEqual(['ganglion', 'more', 'zone: yellow'])
      expect(undescribed()).toEqual([])
    })

    test('keeps pull requests of one branch into others apart', async () => {
      const { forge, branch, openPull } = await start()
      await branch('stable')
      await branch('ganglion/one')
      const other = await openPull('ganglion/one', 'For the stable edition', 'stable')
      expect(await forge.pullOfBranch('ganglion/one', 'main')).toBeUndefined()
      const { number } = await forge.open(fresh('ganglion/one'))
      expect(await forge.pullOfBranch('ganglion/one', 'main')).toMatchObject({ number, base: 'main' })
      expect(await forge.pullOfBranch('ganglion/one', 'stable')).toMatchObject({ number: other, base: 'stable' })
      await forge.close(number)
      expect(await forge.pullOfBranch('ganglion/one', 'main')).toMatchObject({ number, state: 'closed' })
      expect((await forge.openPulls()).map((pull) => [pull.number, pull.base])).toEqual([[other, 'stable']])
    })

    test('tells the commits of a pull request, also once it is merged', async () => {
      const { forge, branch, merge, undescribed } = await start()
      const tips = [await branch('ganglion/one'), await branch('ganglion/one')]
      await branch('main')
      const { number } = await forge.open(fresh('ganglion/one'))
      expect((await forge.commitsOf(number)).toSorted()).toEqual(tips.toSorted())
      await merge(number)
      expect((await forge.commitsOf(number)).toSorted()).toEqual(tips.toSorted())
      expect(undescribed()).toEqual([])
    })

    test('replaces the text of its own comment', async () => {
      const { forge, branch, undescribed } = await start()
      await branch('ganglion/one')
      const { number } = await forge.open(fresh('ganglion/one'))
      const { id } = await forge.comment(number, 'One error.')
      await forge.editComment(number, id, 'No error.')
      expect((await forge.remarksOf(number)).map(({ text }) => text)).toEqual(['No error.'])
      expect(undescribed()).toEqual([])
      await expect(forge.editComment(number, id.replace(/\d+/, '99999'), 'x')).rejects.toMatchObject({ code: 'gone' })
    })

    test('asks for reviews, one after the other', async () => {
      const { forge, branch, reviewers, undescribed } = await start()
      await branch('ganglion/one')
      const { number } = await forge.open(fresh('ganglion/one'))
      for (const login of ['ada', 'bob']) await forge.requestReviews(number, [login])
      expect((await reviewers(number)).toSorted()).toEqual(['ada', 'bob'])
      expect(undescribed()).toEqual([])
    })

    test('opens a draft', async () => {
      const { forge, branch } = await start()
      await branch('ganglion/red')
      const { number } = await forge.open({ ...fresh('ganglion/red'), isDraft: true })
      expect(await forge.pull(number)).toMatchObject({ isDraft: true })
    })

    test('closes and reopens, and sees what people close, reopen and merge', async () => {
      const { forge, branch, close, reopen, merge } = await start()
      await branch('ganglion/one')
      const { number } = await forge.open(fresh('ganglion/one'))
      const stateOf = async () => (await forge.pull(number)).state
      await forge.close(number)
      await forge.close(number)
      expect(await stateOf()).toBe('closed')
      expect(await forge.openPulls()).toEqual([])
      expect(await forge.pullOfBranch('ganglion/one', 'main')).toMatchObject({ number, state: 'closed' })
      await forge.reopen(number)
      expect(await stateOf()).toBe('open')
      await close(number)
      expect(await stateOf()).toBe('closed')
      await reopen(number)
      const before = new Date(Date.now() - 60_000).toISOString()
      const commit = await merge(number)
      expect(await forge.pull(number)).toMatchObject({ state: 'merged', mergedBy: { id: 'ada' }, mergeCommit: commit })
      expect(await forge.recentlyMerged('main', before)).toMatchObject([{ number, mergeCommit: commit }])
      expect(await forge.recentlyMerged('stable', before)).toEqual([])
      expect(await forge.openPulls()).toEqual([])
      await expect(forge.reopen(number)).rejects.toMatchObject({ code: 'conflict' })
    })

    test('knows who may close what others opened', async () => {
      const { forge, undescribed } = await start()
      expect([await forge.mayClose('ada'), await forge.mayClose('mallory')]).toEqual([true, false])
      expect(undescribed()).toEqual([])
    })

    test('lists more open pull requests than one page has', async () => {
      const { forge, branch, openPull } = await start()
      await branch('feature')
      for (let n = 0; n < 101; n++) await openPull('feature', `Page ${n}`, `base-${n}`)
      expect(await forge.openPulls()).toHaveLength(101)
    })

    test('lists those that people open, too', async () => {
      const { forge, branch, openPull } = await start()
      const tip = await branch('feature')
      const number = await openPull('feature', 'A page of mine')
      expect(await forge.openPulls()).toMatchObject([{ number, author: { id: 'ada' }, branch: 'feature', head: tip }])
      expect(forge.headRef(number)).toMatch(/^refs\//)
    })

    test('hears comments and reviews, of one and of all, each under its own id', async () => {
      const { forge, branch, comment, review } = await start()
      await branch('ganglion/one')
      await branch('ganglion/two')
      const { number: one } = await forge.open(fresh('ganglion/one'))
      const { number: two } = await forge.open(fresh('ganglion/two'))
      await comment(one, 'Six or five?')
      await review(one, 'Five.')
      const own = await forge.comment(two, 'Said here.')
      const remarks = await forge.remarksOf(one)
      expect(remarks.map(({ text, author }) => [author.id, text])).toEqual([
        ['ada', 'Six or five?'],
        ['ada', 'Five.'],
      ])
      const all = await forge.remarksSince(undefined, await forge.openPulls())
      expect(new Set(all.map(({ id }) => id)).size).toBe(3)
      expect(all.filter(({ number }) => number === two)).toMatchObject([{ id: own.id, text: 'Said here.' }])
      expect(await forge.remarksSince('2999-01-01T00:00:00Z', [])).toEqual([])
    })

    test('reports a check with its findings', async () => {
      const { forge, branch, reports, undescribed } = await start()
      const head = await branch('ganglion/one')
      const { number } = await forge.open(fresh('ganglion/one'))
      const finding = { path: 'neurons/a.md', line: 3, severity: 'warning', message: 'No Neuron answers.' } as const
      const report = {
        head,
        branch: 'ganglion/one',
        number,
        title: 'Waits for a curator',
        summary: 'Why',
        url: 'https://kb.example.org/queue/1',
      }
      await forge.report({ ...report, outcome: 'failed', findings: [finding] })
      await forge.report({ ...report, outcome: 'waiting', findings: [], url: undefined })
      expect((await reports(head)).at(-1)).toEqual({ outcome: 'waiting', findings: 0 })
      expect(undescribed()).toEqual([])
    })

    test('sends no text that the forge does anything for', async () => {
      const { forge, branch, comment } = await start()
      await branch('ganglion/one')
      const [others, inert] = ['Fixes #1 @ada [skip ci]\n/close', 'Fixes ＃1 ＠ada ［skip ci]\n／close']
      const title = { sent: 'Add "Fixes #1"', shown: 'Add "Fixes ＃1"' }
      const { number } = await forge.open({ ...fresh('ganglion/one'), title: title.sent, body: others })
      expect(await forge.pull(number)).toMatchObject({ title: title.shown, body: inert })
      await forge.update(number, { title: `${title.sent}!`, body: `${others}!` })
      expect(await forge.pull(number)).toMatchObject({ title: `${title.shown}!`, body: `${inert}!` })
      await forge.comment(number, others)
      await comment(number, others)
      expect((await forge.remarksOf(number)).map(({ text }) => text)).toEqual([inert, others])
    })

    test('tells apart why a forge did not do what it was asked', async () => {
      const { forge, branch, failNext, hangNext } = await start()
      await expect(forge.pull(404)).rejects.toMatchObject({ code: 'gone' })
      await branch('ganglion/one')
      failNext(500)
      await expect(forge.openPulls()).rejects.toMatchObject({ code: 'unreachable' })
      failNext(422, {}, { message: 'Validation Failed' })
      await expect(forge.open(fresh('ganglion/one'))).rejects.toMatchObject({ code: 'conflict' })
      failNext(200, {}, { a: 'surprise' })
      await expect(forge.pull(1)).rejects.toMatchObject({ code: 'unexpected' })
      const timeout = new AbortController()
      const timeouts = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(timeout.signal)
      onTestFinished(() => timeouts.mockRestore())
      hangNext(() => timeout.abort(new DOMException('The operation timed out.', 'TimeoutError')))
      await expect(forge.openPulls()).rejects.toMatchObject({ code: 'unreachable' })
      expect(timeouts).toHaveBeenLastCalledWith(timeoutMs)
      failNext(401)
      await expect(forge.openPulls()).rejects.toMatchObject({ code: 'refused' })
      expect(await forge.openPulls()).toEqual([])
    })

    test('asks nothing more until a limit is over', async () => {
      const { forge, failNext, requests } = await start()
      await forge.openPulls()
      failNext(429, { 'retry-after': '120' })
      const error = await forge.openPulls().catch((thrown) => thrown)
      expect(error).toBeInstanceOf(ForgeError)
      expect(error.code).toBe('rate-limited')
      expect(error.until.getTime() - Date.now()).toBeGreaterThan(110_000)
      const before = requests()
      await expect(forge.openPulls()).rejects.toMatchObject({ code: 'rate-limited' })
      await expect(forge.comment(1, 'x')).rejects.toMatchObject({ code: 'rate-limited' })
      expect(requests()).toBe(before)
    })
  })
}

import { afterAll, beforeAll } from 'vitest'
import type { CandidateInput } from '../../../src/contract/candidates.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import type { Caller } from '../../../src/rules/access/caller.ts'
import { candidate, correction } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { type Browser, type Console, type Page, startConsole } from '../support.ts'

export const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(2)> [x](javascript:alert(3)) \u202e`

export type Desk = Console & {
  curator: Browser
  /** A knowledge base of its own, so that tests of one file do not meet. */
  newKb(): Promise<Kb>
}

export type Kb = {
  slug: string
  /** The ids of what was submitted. */
  submit(changes?: Partial<CandidateInput>): Promise<string>
  correct(seqId: string, content: string, changes?: Partial<CandidateInput>): Promise<string>
  /** The seqId of a new Neuron. */
  add(changes?: Partial<CandidateInput>): Promise<string>
  approve(id: string): Promise<{ seqId: string }>
}

/** A console with a curator at work, for all tests of a file. */
export function deskForFile(): () => Desk {
  let desk: Desk | undefined
  beforeAll(async () => {
    const console = await startConsole()
    let count = 0
    const newKb = () => openKb(console, `kb-${++count}`)
    desk = { ...console, curator: await console.browser('curator', { name: 'Cora Curator' }), newKb }
  })
  afterAll(() => desk?.close())
  return () => {
    if (desk === undefined) throw new Error('The desk is not ready.')
    return desk
  }
}

async function openKb({ ctx, tenantId }: Console, slug: string): Promise<Kb> {
  await createKnowledgeBase(ctx, { tenant: 'acme', slug })
  const app: Caller = { id: 'key:app', name: 'The app', tenantId, role: 'app', connectors: [] }
  const other: Caller = { id: 'user:other', name: 'Olga Other', tenantId, role: 'curator', connectors: [] }
  const submit = async (changes: Partial<CandidateInput> = {}) =>
    (await submitCandidate(ctx, app, candidate({ knowledgeBaseId: slug, ...changes }))).candidateId
  const approve = (id: string) => approveCandidate(ctx, other, id, {})
  return {
    slug,
    submit,
    correct: (seqId, content, changes) => submit(correction(seqId, content, { knowledgeBaseId: slug, ...changes })),
    add: async (changes) => (await approve(await submit(changes))).seqId,
    approve,
  }
}

/** The fields of the form that posts to a path which ends so, as a browser would send them; and where it posts to. */
export function formOf(page: Page, ending: string): { action: string; fields: Record<string, string> } {
  const form = [...page.document.querySelectorAll('form')].find((each) =>
    each.getAttribute('action')?.split('?')[0]?.endsWith(ending),
  )
  if (form === undefined) throw new Error(`no form for ${ending}`)
  const fields = [...form.querySelectorAll('input, textarea')].map((field) => {
    const text = field.tagName === 'TEXTAREA' ? field.textContent.replace(/^\n/, '') : field.getAttribute('value')
    return [field.getAttribute('name') ?? '', text ?? ''] as const
  })
  return {
    action: form.getAttribute('action') ?? '',
    fields: Object.fromEntries(fields.filter(([name]) => name !== '_csrf')),
  }
}

/** Follows the redirect of an answer. */
export async function follow(browser: Browser, answer: Page): Promise<Page> {
  if (answer.status !== 303) throw new Error(`no redirect: ${answer.status} ${answer.texts('main').join()}`)
  return browser.get(String(answer.headers.location))
}

import { parseHTML } from 'linkedom'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { healthPage } from '../../../src/console/settings/health-page.ts'
import type { HealthReport } from '../../../src/operate/health-report.ts'
import { eventually } from '../../support/eventually.ts'
import { type Browser, type Console, startConsole } from '../support.ts'

const hostile = `<script>alert(1)</script>`
const now = new Date('2026-03-20T12:00:00Z')

function shown(changes: Partial<HealthReport>) {
  const tenant = { id: '1', slug: 'acme', role: 'admin' as const }
  const user = { id: '2', email: 'ada@example.com', name: 'Ada' }
  const session = { id: '3', user, tenant, role: 'admin' as const, filters: [], tenants: [tenant] }
  const visit = { session, path: '/settings/health', formToken: 'x', styleNonce: () => 'n' }
  const report: HealthReport = {
    ...{ version: '1.2.3', problems: [], backedUpAt: undefined, kbs: [], sources: { count: 0, size: 0 } },
    ...{ shared: undefined, verification: undefined },
    ...changes,
  }
  const { document } = parseHTML(String(healthPage(visit, report, now)))
  return (selector: string) =>
    [...document.querySelectorAll(selector)].map(({ textContent }) => textContent.trim().replace(/\s+/g, ' '))
}

test('what is broken, old or unknown is said', () => {
  const broken = shown({
    problems: [{ part: 'git', reason: hostile }],
    kbs: [{ slug: 'a', repository: 1_500_000, index: 999 }],
  })
  expect(broken('.problems li')).toEqual([`git: ${hostile}`])
  expect(broken('tbody tr')).toEqual(['a1.5 MB999 bytes'])
  expect(broken('.warning')[0]).toMatch(/^No backup is known\./)
  expect(broken('.report div')[1]).toContain('Shared with other tenants')
  expect(shown({ backedUpAt: '2026-03-20T09:00:00Z' })('.warning')).toEqual([])
  expect(shown({ backedUpAt: '2026-03-01T09:00:00Z' })('.warning')[0]).toContain('2 weeks ago')
  const own = shown({ shared: { database: 12_345, freeDisk: 0.256 } })
  expect(own('.report div').slice(1)).toEqual(['Database12.3 KB', 'Free on the disk25.6 %'])
})

test('how much is found by meaning is said where there is a model', () => {
  const kbs = [
    { slug: 'a', repository: 1, index: 1, meaning: { embedded: 1200, lacking: 0 } },
    { slug: 'b', repository: 1, index: 1, meaning: { embedded: 5, lacking: 7 } },
    { slug: 'c', repository: 1, index: 1 },
  ]
  expect(shown({ kbs })('thead th').at(-1)).toBe('Found by meaning')
  expect(shown({ kbs })('tbody td:last-child')).toEqual(['1,200 chunks', '5 chunks, 7 texts wait', ''])
  expect(shown({ kbs: kbs.slice(2) })('thead th').at(-1)).toBe('Index')
})

test('a verification is running, cut off, fine or not', () => {
  const run = { startedAt: '2026-03-20T11:00:00Z', by: hostile }
  expect(shown({ verification: run })('#verification [role=status]')[0]).toContain(
    `Running since 1 hour ago, for ${hostile}`,
  )
  const finishedAt = '2026-03-20T11:59:00Z'
  expect(shown({ verification: { ...run, finishedAt } })('#verification .warning')[0]).toContain('cut off')
  const problems = [{ kind: 'file' as const, message: hostile }]
  const kbs = [{ id: '1', slug: 'handbook', problems, notes: [] }]
  const found = shown({ verification: { ...run, finishedAt, result: { ok: false, problems: [], kbs } } })
  expect(found('#verification .badge, #verification li li')).toEqual(['Problems', `file: ${hostile}`])
})

let started: Console
let admin: Browser
beforeAll(async () => {
  started = await startConsole()
  admin = await started.browser('admin')
})
afterAll(() => started.close())

test('an administrator sees the state of the server, and verifies it in the background', async () => {
  const page = await admin.get('/settings/health')
  expect(page.texts('.badge')).toEqual(['Ready'])
  expect(page.texts('tbody th')).toEqual(['handbook'])
  expect((await admin.post('/settings/health/verify')).headers.location).toBe('/settings/health')
  await eventually(async () => {
    const part = await admin.get('/settings/health', { 'hx-request': 'true' })
    expect(part.document.querySelector('main')).toBeNull()
    expect(part.texts('.badge')).toEqual(['Fine'])
  })
  expect((await (await started.browser('curator')).get('/settings/health')).status).toBe(403)
})

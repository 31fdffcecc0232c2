import { expect, test } from 'vitest'
import { startConsole } from '../support.ts'

test('the page of forges shows each link of the tenant and how it stands, to administrators only', async () => {
  const { ganglion, kbId, browser, close } = await startConsole()
  try {
    const admin = await browser('admin')
    expect((await admin.get('/settings/forges')).texts('.empty')).toEqual(['No knowledge base is linked.'])
    const [kb] = await ganglion.knowledgeBases.list()
    const link = await ganglion.forgeLinks.create(
      {
        ...{
          tenantId: kb?.tenantId ?? '',
          kbId,
          kind: 'github',
          url: 'https://github.com/acme/handbook',
          apiUrl: null,
        },
        ...{ credential: { token: 'env:FORGE_TOKEN' }, webhookSecret: null, maxOpen: 50 },
      },
      new Date(),
    )
    const row = async () => (await admin.get('/settings/forges')).texts('tbody tr')[0]
    expect(await row()).toMatch(/https:\/\/github\.com\/acme\/handbook *0 of 50 *never *well, looked at once a minute/)
    const note = 'The forge does not take main: <b>protected</b>'
    await ganglion.forgeLinks.note(link?.id ?? '', { note, failingSince: '2026-01-02T03:04:05.000Z', failures: 3 })
    const shown = await admin.get('/settings/forges')
    expect(shown.texts('tbody tr')[0]).toContain(note)
    expect(shown.texts('tbody tr')[0]).toContain('fails since')
    expect(shown.document.querySelector('main td b')).toBeNull()
    expect(shown.body).not.toContain('FORGE_TOKEN')
    expect((await (await browser('curator')).get('/settings/forges')).status).toBe(403)
  } finally {
    await close()
  }
})

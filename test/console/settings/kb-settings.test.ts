import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { parseKbFile } from '../../../src/markdown/file/kb-file.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { type Browser, type Console, fieldsOf, startConsole } from '../support.ts'

const hostile = `"><img src=x onerror=alert(1)>`

let started: Console
let admin: Browser
let native: NativeWriter
beforeAll(async () => {
  started = await startConsole()
  admin = await started.browser('admin', { name: 'Ada' })
  native = new NativeWriter(started.ctx.directory.repository(started.kbId))
})
afterAll(() => started.close())

const path = '/kb/handbook/settings'

const kbYaml = () => native.git('show', 'main:kb.yaml')
const preview = (fields: Record<string, string>) => admin.post(path, { ...fields, do: 'preview' })

test('a change is shown before it is made, and is one commit under the name of the person', async () => {
  const before = kbYaml()
  const fields = { ...fieldsOf(await admin.get(path)), title: hostile, 'policy.threshold': '0.95', protectMain: 'true' }
  const shown = await preview(fields)
  expect(shown.status).toBe(200)
  expect(shown.texts('.patch ins')).toContain('+ threshold: 0.95')
  expect(shown.texts('.patch del')).toContain('- threshold: 0.8')
  expect(shown.document.querySelector('main img')).toBeNull()
  expect(kbYaml()).toBe(before)

  const sent = fieldsOf(shown)
  expect(sent).toMatchObject(fields)
  const answer = await admin.post(path, { ...sent, do: 'commit' })
  const head = native.git('rev-parse', 'main').trim()
  expect([answer.status, answer.headers.location]).toEqual([303, `${path}?commit=${head}`])
  const after = await admin.get(`${path}?commit=${head}`)
  expect(after.texts('.notice')).toEqual([`The settings are changed: commit ${head.slice(0, 12)}.`])
  expect(fieldsOf(after)).toMatchObject({ title: hostile, 'policy.threshold': '0.95', protectMain: 'true' })
  expect(native.git('log', '-1', '--format=%an%n%B', 'main')).toContain(`Approved-By: Ada <user:${admin.userId}>`)
})

test('what was not shown is not committed: it is shown first', async () => {
  const head = native.git('rev-parse', 'main')
  const shown = await preview({ ...fieldsOf(await admin.get(path)), tone: 'dry' })
  const other = await admin.post(path, { ...fieldsOf(shown), tone: 'drier', do: 'commit' })
  expect([other.status, other.texts('.patch ins')]).toEqual([200, ['+tone: drier']])
  const made = await admin.post(path, { ...fieldsOf(await admin.get(path)), tone: 'x', do: 'commit', seen: 'made up' })
  expect(made.status).toBe(200)
  const same = await preview(fieldsOf(await admin.get(path)))
  expect(same.texts('form .warning')).toEqual(['Nothing changes.'])
  expect(native.git('rev-parse', 'main')).toBe(head)
  const long = await preview({ ...fieldsOf(await admin.get(path)), tone: 'x'.repeat(20_001) })
  expect([long.status, long.document.body.textContent]).toEqual([
    400,
    expect.stringContaining('at most 20000 characters'),
  ])
})

test('a change of the title changes no flag, whatever the flags are', async () => {
  const flags = [
    'policy.singleCurator',
    'approvals.keepOnMerge',
    'authorMayApprove',
    'inlineTags',
    'protectMain',
    'rename.rewriteLinks',
  ]
  for (const value of ['false', 'true']) {
    const fields = fieldsOf(await admin.get(path))
    for (const name of flags) fields[name] = value
    await admin.post(path, { ...fieldsOf(await preview(fields)), do: 'commit' })
    const form = await admin.get(path)
    expect(form.texts('input[type=checkbox]:checked')).toHaveLength(value === 'true' ? flags.length : 0)
    const shown = await preview({ ...fieldsOf(form), title: `Title ${value}` })
    expect(shown.texts('.patch ins')).toEqual([`+title: Title ${value}`])
    expect(shown.document.body.textContent?.includes('the policy approves only what comes by lint')).toBe(
      value === 'false',
    )
  }
})

test('what is wrong stands beside its field, and what was typed is kept', async () => {
  const head = native.git('rev-parse', 'main')
  const wrong = { 'policy.threshold': '2', 'lint.schedule': hostile, 'zones.kinds.chat': 'blue', title: '' }
  const answer = await preview({ ...fieldsOf(await admin.get(path)), ...wrong })
  expect(answer.status).toBe(400)
  for (const name of Object.keys(wrong)) {
    expect(answer.document.getElementById(`field-${name}-error`)?.textContent).not.toBe('')
  }
  expect(fieldsOf(answer)).toMatchObject({ 'policy.threshold': '2', 'lint.schedule': hostile })
  expect(answer.document.querySelector('img')).toBeNull()
  expect(native.git('rev-parse', 'main')).toBe(head)
})

test('who was slower keeps what was typed, sees what others changed, and may go on', async () => {
  const fields = { ...fieldsOf(await admin.get(path)), tone: 'mine' }
  native.commit('refs/heads/main', new Map([['kb.yaml', kbYaml().replace('language: en', 'language: de')]]))
  const late = await preview(fields)
  expect(late.status).toBe(409)
  expect(late.texts('.problems')[0]).toContain('Somebody else has changed the settings meanwhile: language.')
  expect(fieldsOf(late)).toMatchObject({ tone: 'mine', language: 'de' })
  const shown = await preview(fieldsOf(late))
  expect(shown.texts('.patch ins, .patch del').join()).not.toContain('language')
  expect((await admin.post(path, { ...fieldsOf(shown), do: 'commit' })).status).toBe(303)
  expect(kbYaml()).toMatch(/language: de\n.*\ntone: mine/)
})

test('who does not own the settings keeps what was typed, and reads whom to ask', async () => {
  const before = kbYaml()
  const owned = `${before}\nowners: [{ paths: [kb.yaml], people: [ann@example.com] }]\n`
  native.commit('refs/heads/main', new Map([['kb.yaml', owned]]))
  const shown = await preview({ ...fieldsOf(await admin.get(path)), tone: 'of Ann' })
  const refused = await admin.post(path, { ...fieldsOf(shown), do: 'commit' })
  expect(refused.status).toBe(409)
  expect(refused.texts('.problems')[0]).toContain(
    'It needs the approval of ann@example.com. Ask one of them to make this change.',
  )
  expect(fieldsOf(refused)).toMatchObject({ tone: 'of Ann' })
  native.commit('refs/heads/main', new Map([['kb.yaml', before]]))
})

test('synonyms are a group on each line', async () => {
  const typed = 'vpn = virtual private network\n\n k8s  =  Kubernetes = k, 8, s \na=b = c'
  const shown = await preview({ ...fieldsOf(await admin.get(path)), 'search.synonyms': typed })
  expect((await admin.post(path, { ...fieldsOf(shown), do: 'commit' })).status).toBe(303)
  expect(parseKbFile(kbYaml()).settings.synonyms).toEqual([
    ['vpn', 'virtual private network'],
    ['k8s', 'Kubernetes', 'k, 8, s'],
    ['a=b', 'c'],
  ])
  const fields = fieldsOf(await admin.get(path))
  expect(fields['search.synonyms']).toBe('vpn = virtual private network\nk8s = Kubernetes = k, 8, s\na=b = c')
  expect((await preview({ ...fields, 'search.synonyms': 'alone' })).status).toBe(400)
  const emptied = await preview({ ...fields, 'search.synonyms': ' ' })
  expect((await admin.post(path, { ...fieldsOf(emptied), do: 'commit' })).status).toBe(303)
  expect(parseKbFile(kbYaml()).settings.synonyms).toEqual([])
})

test('settings are for administrators; a file with errors is not changed here', async () => {
  for (const role of ['reader', 'curator'] as const) {
    const other = await started.browser(role)
    expect([(await other.get(path)).status, (await other.post(path, { do: 'preview', base: '' })).status]).toEqual([
      403, 403,
    ])
  }
  expect((await admin.post(path, { do: 'commit', base: 'x' })).status).toBe(409)
  native.commit('refs/heads/main', new Map([['kb.yaml', `${kbYaml()}policy: [\n`]]))
  const page = await admin.get(path)
  expect(page.texts('main form')).toEqual([])
  expect(page.texts('.warning')[0]).toContain('kb.yaml is not as it should be')
})

test('an administrator renames, disables and deletes a knowledge base, whose name is typed', async () => {
  const { ctx, tenantId } = started
  const { id } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'spare' })
  const life = '/settings/knowledge-bases'
  expect((await admin.get('/kb/spare/settings')).texts(`main a[href="${life}/spare"]`)).toHaveLength(1)
  for (const slug of ['handbook', 'No Name', '']) {
    const refused = await admin.post(`${life}/spare/rename`, { slug })
    expect([refused.status >= 400, refused.document.querySelector('.problems') !== null]).toEqual([true, true])
  }
  const renamed = await admin.post(`${life}/spare/rename`, { slug: 'other' })
  expect([renamed.status, renamed.headers.location]).toEqual([303, `${life}/other?done=rename`])
  expect((await admin.get('/kb/spare')).status).toBe(200)

  expect((await admin.post(`${life}/other/delete`, { confirm: 'other' })).status).toBe(409)
  await admin.post(`${life}/other/disable`)
  expect((await admin.get('/kb/other')).status).toBe(404)
  expect((await admin.get('/settings')).texts('main h3 + ul a')).toEqual(['other'])
  await admin.post(`${life}/other/enable`)
  expect((await admin.get('/kb/other')).status).toBe(200)
  await admin.post(`${life}/other/disable`)
  const mistyped = await admin.post(`${life}/other/delete`, { confirm: 'spare' })
  expect([mistyped.status, ...mistyped.texts('.field .error')]).toEqual([400, 'must be other'])

  for (const role of ['curator', 'reader'] as const) {
    const person = await started.browser(role)
    expect((await person.get(`${life}/other`)).status).toBe(403)
    expect((await person.post(`${life}/other/delete`, { confirm: 'other' })).status).toBe(403)
  }
  await createKnowledgeBase(ctx, { tenant: 'umbrella', slug: 'theirs' })
  expect((await admin.get(`${life}/theirs`)).status).toBe(404)
  expect(await ctx.knowledgeBases.find(tenantId, id, { disabled: true })).toBeDefined()

  const deleted = await admin.post(`${life}/other/delete`, { confirm: ' other ' })
  const [, name = ''] = /^\/settings\?exported=(other-\d{8}T\d{6}Z)$/.exec(String(deleted.headers.location)) ?? []
  expect(existsSync(join(ctx.directory.root, 'exports', name, 'manifest.json'))).toBe(true)
  expect((await admin.get(`/settings?exported=${name}`)).texts('.notice code')).toEqual([`exports/${name}`])
  expect((await admin.get('/settings?exported=%3Cb%3E')).texts('.notice')).toEqual([])
  expect((await admin.get(`${life}/other`)).status).toBe(404)
  expect((await admin.get('/settings/audit')).texts('tbody strong').slice(0, 5)).toEqual([
    ...Array(4).fill('other'),
    'spare',
  ])
})

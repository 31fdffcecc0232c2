import { expect, test } from 'vitest'
import {
  changeKbSettings,
  previewKbSettings,
  readKbSettings,
} from '../../../src/operate/settings/change-kb-settings.ts'
import type { SettingValues } from '../../../src/operate/settings/setting-values.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { newTestBed } from '../../kb/support/test-bed.ts'

async function settingsBed() {
  const bed = await newTestBed()
  const admin = { ...bed.curator, id: 'user:0199a5c1', name: 'Ada\nRoot' }
  const native = new NativeWriter(bed.gitDir)
  const kbYaml = () => native.git('show', 'main:kb.yaml')
  const form = () => readKbSettings(bed.ctx, admin, 'handbook')
  const change = async (values: Partial<SettingValues>, base?: string) => {
    const shown = await form()
    return { base: base ?? shown.base, values: { ...shown.values, ...values } }
  }
  return { ...bed, admin, native, kbYaml, form, change }
}

test('a change is shown as a diff, then is one commit that names its author', async () => {
  const { ctx, admin, native, kbYaml, change, form } = await settingsBed()
  const before = kbYaml()
  const wanted = await change({
    ...{ 'policy.threshold': '0.9', defaultAudience: 'tool', protectMain: 'true', tone: 'dry: no #jokes' },
    ...{ 'zones.connectors': 'site-chat: red\nfeed: green', 'sources.ocr': 'deu, chi_sim' },
  })
  const { diff, changed } = await previewKbSettings(ctx, admin, 'handbook', wanted)
  expect(kbYaml()).toBe(before)
  expect(changed).toHaveLength(6)
  expect(diff).toContain('-  threshold: 0.8\n+  threshold: 0.9\n')
  const commit = await changeKbSettings(ctx, admin, 'handbook', wanted)
  expect(native.git('rev-parse', 'main').trim()).toBe(commit)
  expect(native.git('log', '-1', '--format=%an %ae%n%B', 'main')).toContain(
    'Ada Root user-0199a5c1@ganglion.invalid\nChange the settings: tone, policy.threshold, zones.connectors, defaultAudience, protectMain, sources.ocr\n\nConnector: console\nApproved-By: Ada Root <user:0199a5c1>',
  )
  const settings = await (await ctx.kb(admin.tenantId, 'handbook')).settings()
  expect(settings).toMatchObject({
    ...{ defaultAudience: ['tool'], protectMain: true, tone: 'dry: no #jokes' },
    policy: { threshold: 0.9 },
    ocrLanguages: ['deu', 'chi_sim'],
    zones: { connectors: { 'site-chat': 'red', feed: 'green' } },
  })
  expect((await form()).values).toEqual(wanted.values)
  expect(
    kbYaml()
      .split('\n')
      .filter((line) => line.startsWith('#')),
  ).toEqual(before.split('\n').filter((line) => line.startsWith('#')))
})

test('nothing that differs commits nothing', async () => {
  const { ctx, admin, native, change } = await settingsBed()
  const head = native.git('rev-parse', 'main')
  expect(await changeKbSettings(ctx, admin, 'handbook', await change({}))).toBeUndefined()
  expect(native.git('rev-parse', 'main')).toBe(head)
})

test('what a push would be refused for is refused beside its field', async () => {
  const { ctx, admin, native, change } = await settingsBed()
  const head = native.git('rev-parse', 'main')
  const wrong: Partial<SettingValues> = {
    ...{ title: 'two\nlines', language: 'English!', 'policy.threshold': '1.5', 'lint.schedule': 'now and then' },
    ...{
      'sources.types': 'eml, exe',
      'sources.ocr': 'German',
      'zones.connectors': 'site-chat: purple\nnameless',
      'search.engine': 'grep',
    },
    'zones.kinds.chat': 'blue' as string,
  }
  const refused = await changeKbSettings(ctx, admin, 'handbook', await change(wrong)).catch((error) => error)
  expect(Object.keys(refused.fieldErrors).sort()).toEqual(Object.keys(wrong).sort())
  expect(refused.formErrors).toEqual([])
  expect(native.git('rev-parse', 'main')).toBe(head)
})

test('who was slower is told what has changed since', async () => {
  const { ctx, admin, native, change, kbYaml, form } = await settingsBed()
  const { base } = await form()
  native.commit('refs/heads/main', new Map([['kb.yaml', kbYaml().replace('threshold: 0.8', 'threshold: 0.7')]]))
  const late = { ...(await change({ tone: 'other' })), base }
  for (const use of [previewKbSettings, changeKbSettings]) {
    await expect(use(ctx, admin, 'handbook', late)).rejects.toMatchObject({
      code: 'merge_conflict',
      changed: ['policy.threshold'],
      before: { 'policy.threshold': '0.8' },
    })
  }
  await changeKbSettings(ctx, admin, 'handbook', await change({ tone: 'other' }))
  expect(kbYaml()).toContain('tone: other')
})

test('a file with errors is not changed by a form', async () => {
  const { ctx, admin, native, change, kbYaml, form } = await settingsBed()
  native.commit('refs/heads/main', new Map([['kb.yaml', `${kbYaml()}policy: [\n`]]))
  expect((await form()).problems).toContainEqual(expect.objectContaining({ severity: 'error' }))
  await expect(changeKbSettings(ctx, admin, 'handbook', await change({ tone: 'x' }))).rejects.toMatchObject({
    formErrors: ['kb.yaml has errors: mend it by a push first.'],
  })
})

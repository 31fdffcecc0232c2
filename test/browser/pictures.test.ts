import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../support/temp.ts'
import { submitted } from './support/candidates.ts'
import { stageForFile } from './support/stage.ts'

let candidate = ''
const stage = stageForFile(async (console) => {
  const waiting = [
    {
      title: 'VIP escalation policy',
      content: '# VIP escalation\n\nWhen a VIP customer raises a ticket, page the lead. See [[Neuron]].\n',
    },
    { title: 'On-call rotation', content: 'The rotation changes on Monday at 09:00. See [[VIP escalation policy]].\n' },
  ]
  candidate = (await submitted(console, waiting))[0] ?? ''
})

const kb = '/kb/handbook'
const pictures = [
  ['home', () => '/'],
  ['queue', () => '/queue'],
  ['candidate', () => `/queue/${candidate}`],
  ['neuron', () => `${kb}/neurons/handbook_00000001`],
  ['editor', () => `${kb}/neurons/handbook_00000001/edit`],
  ['graph', () => `${kb}/graph`],
  ['sources', () => `${kb}/sources`],
  ['search', () => `${kb}/search?q=candidate`],
  ['findings', () => `${kb}/findings`],
  ['settings', () => `${kb}/settings`],
] as const

/** Of the manual: `PICTURES=docs/images npm run test:browser -- pictures` makes them anew. */
test.each(pictures)('there is a picture of the page %s', async (name, path) => {
  const folder = process.env.PICTURES ?? tempDir()
  mkdirSync(folder, { recursive: true })
  const viewport = { width: 1200, height: 750 }
  const { page, visit, context } = await stage().enter('admin', {
    name: 'Ada Lovelace',
    viewport,
    colorScheme: 'light',
  })
  await visit(path())
  const file = join(folder, `${name}.png`)
  await page.screenshot({ path: file })
  expect(statSync(file).size).toBeGreaterThan(10_000)
  await context.close()
})

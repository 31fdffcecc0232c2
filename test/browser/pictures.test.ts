import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signIn } from '../support/person.ts'
import { tempDir } from '../support/temp.ts'
import { submitted } from './support/candidates.ts'
import { stageForFile } from './support/stage.ts'

const escalation = `When a VIP customer raises a ticket, page the lead within 15 minutes. See [[Neuron]].

1. Open the ticket and set its priority.
2. Call the lead on duty: [[On-call rotation]].
3. Tell the customer when they hear from us next.
`
const text = (content: string) => ({ content, confidence: 0.6 })
let changed = ''
const stage = stageForFile(async (console) => {
  const { app, ctx, kbId } = console
  const correction = text(
    'Programs and people use the API with a key, sent as `Authorization: Bearer gng_…`. A key belongs to a tenant and opens its knowledge bases.\n',
  )
  const ids = await submitted(console, [
    { ...text(escalation), title: 'VIP escalation policy', metadata: JSON.stringify({ tags: ['support', 'policy'] }) },
    { ...text('The rotation changes on Monday at 09:00. See [[VIP escalation policy]].\n'), title: 'On-call rotation' },
    { ...text('Refunds go out within 14 days.\n'), title: 'Refunds', metadata: JSON.stringify({ actionZone: 'red' }) },
    { ...text('Servers are copied every night.\n'), title: 'Backups of servers', kind: 'chat' },
    { ...text('New colleagues get a key on the first day.\n'), title: 'First day', kind: 'chat' },
    {
      ...{ ...correction, title: 'API keys and roles', kind: 'user-correction' },
      metadata: JSON.stringify({ targetNeuron: 'handbook_00000001' }),
    },
  ])
  changed = ids.at(-1) ?? ''
  const { headers } = await signIn(ctx, 'acme', 'admin', { name: 'Ada Lovelace' })
  for (const name of ['Opening hours.txt', 'Price list 2026.csv', 'Travel policy.md']) {
    const form = new FormData()
    form.set('file', new Blob([`${name}\n\n${escalation}`]), name)
    const encoded = new Response(form)
    const sent = await app.inject({
      ...{ method: 'POST', url: `/api/v1/knowledge-bases/${kbId}/documents/upload` },
      headers: { ...headers, 'content-type': encoded.headers.get('content-type') ?? '' },
      payload: Buffer.from(await encoded.arrayBuffer()),
    })
    expect(sent.statusCode).toBe(201)
  }
})

const kb = '/kb/handbook'
const pictures = [
  ['home', () => '/'],
  ['queue', () => '/queue'],
  ['candidate', () => `/queue/${changed}`],
  ['neuron', () => `${kb}/neurons/handbook_00000001`],
  ['editor', () => `${kb}/neurons/handbook_00000001/edit`],
  ['graph', () => `${kb}/graph`],
  ['sources', () => `${kb}/sources`],
  ['search', () => `${kb}/search?q=candidate`],
  ['findings', () => `${kb}/findings`],
  ['settings', () => `${kb}/settings`],
  ['phone', () => '/queue'],
] as const

const toWebp = (png: Buffer) => `new Promise((resolve) => {
  const image = new Image()
  image.onload = () => {
    const canvas = document.createElement('canvas')
    Object.assign(canvas, { width: image.width, height: image.height })
    canvas.getContext('2d').drawImage(image, 0, 0)
    resolve(canvas.toDataURL('image/webp', 0.8).split(',')[1])
  }
  image.src = 'data:image/png;base64,${png.toString('base64')}'
})`

/** Pictures of the manual: `PICTURES=docs/images npm run test:browser -- pictures` takes them again. */
test.each(pictures)('there is a picture of the page %s', async (name, path) => {
  const folder = process.env.PICTURES ?? tempDir()
  mkdirSync(folder, { recursive: true })
  const viewport = name === 'phone' ? { width: 390, height: 844 } : { width: 1200, height: 750 }
  const { page, visit, context } = await stage().enter('admin', {
    name: 'Ada Lovelace',
    viewport,
    colorScheme: 'light',
  })
  await visit(path())
  const png = await page.screenshot()
  await page.goto('about:blank')
  const webp = Buffer.from(String(await page.evaluate(toWebp(png))), 'base64')
  writeFileSync(join(folder, `${name}.webp`), webp)
  expect(webp.length).toBeGreaterThan(5_000)
  expect(webp.length).toBeLessThan(120_000)
  await context.close()
})

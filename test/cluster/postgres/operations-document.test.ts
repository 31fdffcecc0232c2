import { execFile } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { ganglionJson, main } from '../../cli/support.ts'
import { s3Server } from '../../state/s3-server.ts'
import { newDatabase } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'

const execute = promisify(execFile)
const document = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
const [, section = ''] = document.split('## From one machine to several, and back\n')
const blocks = [...(section.split('\n## ')[0] ?? '').matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)

test('the way to a cluster and back, as the document has it', async () => {
  const [single, folder, s3] = [join(tempDir(), 'data'), tempDir(), await s3Server()]
  const opened = await openContext({ dataDir: single, threads })
  await createKnowledgeBase(opened, { tenant: 'acme', slug: 'handbook' })
  const tenantId = (await opened.tenants.find('acme'))?.id ?? ''
  await opened.apiKeys.create({ tenantId, name: 'site', role: 'reader', connectors: [], expiresAt: null }, opened.now())
  await opened.close()
  const { bucket, region, endpoint, accessKeyId, secretAccessKey } = s3.options
  const settings = {
    GANGLION_DATABASE: await newDatabase(),
    GANGLION_OBJECTS: `s3://${bucket}/prefix/?region=${region}&endpoint=${endpoint}`,
  }
  // Nothing is another than in the document but what is elsewhere here.
  const places: [string, string][] = [
    ['/backup/', `${folder}/`],
    ['/var/tmp/ganglion', join(folder, 'scratch')],
    ['/var/lib/ganglion', join(folder, 'data')],
    ['postgres://ganglion:…@db.example.org/ganglion?sslmode=verify-full', settings.GANGLION_DATABASE],
    ['s3://bucket/prefix/?region=eu-central-1&endpoint=https://s3.example.org', settings.GANGLION_OBJECTS],
  ]
  const program = join(folder, 'ganglion')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  chmodSync(program, 0o755)
  const { PATH = '' } = process.env
  const base = {
    ...{ PATH: `${folder}${delimiter}${PATH}`, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
  }
  const run = async (block: string, env: Record<string, string> = {}) => {
    const text = places.reduce((all, [from, to]) => all.replaceAll(from, to), block)
    return (await execute('bash', ['-eu', '-c', text], { cwd: folder, env: { ...base, ...env } })).stdout
  }

  expect(blocks).toHaveLength(4)
  const [leave = '', arrive = '', leaveAgain = '', comeBack = ''] = blocks
  expect(await run(leave, { GANGLION_DATA: single })).toMatch(/^Backed up 1 knowledge base to /)
  expect(await run(arrive)).toMatch(/^Restored 1 knowledge base to (.|\n)*\nhandbook \(.*\): fine\n/)
  expect(await run(leaveAgain, { ...settings, GANGLION_DATA: join(folder, 'elsewhere') })).toMatch(/^Backed up 1/)
  expect(await run(comeBack)).toMatch(/^Restored 1 knowledge base to (.|\n)*\nhandbook \(.*\): fine\n/)
  const keys = (data: string) => ganglionJson(['key', 'list'], { GANGLION_DATA: data })
  expect(await keys(join(folder, 'data'))).toEqual(await keys(single))
})

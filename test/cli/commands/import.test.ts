import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatImport } from '../../../src/cli/commands/import.ts'
import { progressBar } from '../../../src/cli/progress-bar.ts'
import { CandidatePage } from '../../../src/contract/candidates.ts'
import { put } from '../../kb/support/import-support.ts'
import { tempDir } from '../../support/temp.ts'
import { ganglion, ganglionJson, serve } from '../support.ts'

async function emptyKb(): Promise<string[]> {
  const data = join(tempDir(), 'data')
  await ganglionJson(['kb', 'create', 'notes', '--data', data, '--tenant', 'acme'])
  return ['--data', data, '--tenant', 'acme', '--kb', 'notes']
}

test('import reports what it did, as text and as one line of JSON', async () => {
  const options = await emptyKb()
  const dir = tempDir()
  put(dir, 'a.md', '[[nowhere]]')
  put(dir, '.hidden/app.json', '{}')
  expect(await ganglion(['import', dir, ...options])).toMatchObject({
    ...{ code: 0, stderr: '' },
    stdout: [
      '1 Neurons created, 0 updated, 0 unchanged; 0 attachments imported.',
      'Files in the folder: 1 notes, 0 attachments, 1 skipped.',
      'Links of what is new or changed: 0 to Neurons, 0 to files, 0 to other knowledge bases, 1 that do not resolve.\n',
      'Skipped (1):\n  .hidden: is hidden\n',
      'Links that lead nowhere (1):\n  neurons/a.md: [[nowhere]]\n',
    ].join('\n'),
  })
  expect(await ganglionJson(['import', dir, ...options])).toEqual({
    code: 0,
    json: {
      ...{ created: 0, updated: 0, unchanged: 1, pending: 0, attachments: 0 },
      files: { notes: 1, attachments: [] },
      links: { neurons: 0, files: 0, otherKbs: 0 },
      ...{ renamed: [], skipped: [{ path: '.hidden', reason: 'is hidden' }], unresolved: [] },
      ...{ conflicts: [], notices: [], partial: [] },
      ...{ moved: [], vanished: [], removalsProposed: 0 },
    },
  })
})

test('import makes nothing where there is no such knowledge base, tenant, folder or data directory', async () => {
  const options = await emptyKb()
  const [, data = ''] = options
  const dir = tempDir()
  const run = async (...args: string[]) => (await ganglionJson(['import', ...args])).json
  expect(await run(dir, '--data', data, '--tenant', 'acme', '--kb', 'other')).toEqual({
    error: 'acme has no knowledge base other. Known ones: notes. To make it: ganglion kb create other --tenant acme',
  })
  expect(await run(dir, '--data', data, '--tenant', 'umbrella', '--kb', 'notes')).toEqual({
    error: 'There is no tenant umbrella. Known tenants: acme.',
  })
  expect(await run(join(dir, 'gone'), ...options)).toEqual({ error: `There is no folder ${join(dir, 'gone')}.` })
  put(dir, 'note.md', 'A note.')
  expect(await run(join(dir, 'note.md'), ...options)).toEqual({
    error: `${join(dir, 'note.md')} is a file: ganglion import takes a folder.`,
  })
  expect(await run(dir, '--data', join(dir, 'data'), '--tenant', 'acme', '--kb', 'notes')).toHaveProperty('error')
  expect((await ganglionJson(['kb', 'list', '--data', data])).json).toMatchObject({ knowledgeBases: { length: 1 } })
})

test('import works beside a running server, which serves what was imported at once', async () => {
  const data = join(tempDir(), 'data')
  const { line } = await serve(data)
  const dir = tempDir()
  put(dir, 'Imported.md', 'Said in the folder.')
  const into = ['--tenant', 'default', '--kb', String(line.kb)]
  expect((await ganglionJson(['import', dir, '--data', data, ...into])).json).toMatchObject({ created: 1 })
  const get = async (path: string, token = '') =>
    (await fetch(`${line.url}/api/v1/${path}`, { headers: { Authorization: `Bearer ${token}` } })).json()
  const { candidates } = CandidatePage.parse(await get('queue/candidates?connector=import', line.curatorToken))
  const { seqId, status } = candidates.find(({ title }) => title === 'Imported') ?? {}
  expect(status).toBe('approved')
  expect(await get(`neurons/${line.kb}/${seqId}`, line.appToken)).toMatchObject({ content: 'Said in the folder.' })
})

test('the report shows the first 20 of each list, and each on its line', () => {
  const unresolved = Array.from(
    { length: 25 },
    (_, n) => ({ path: 'neurons/a.md', target: `t${n}`, reason: 'missing' }) as const,
  )
  const ambiguous = { path: 'neurons/b.md', target: 'x\u001b[2J', reason: 'ambiguous' } as const
  const report = formatImport({
    ...{ created: 1, updated: 2, unchanged: 3, pending: 1, attachments: 5, skipped: [] },
    files: { notes: 6, attachments: [{ type: '.mdx', files: 289 }] },
    links: { neurons: 7, files: 8, otherKbs: 0 },
    conflicts: [{ path: 'c.md', candidateId: '019caed1' }],
    notices: [{ path: 'd.md', line: 3, message: 'Something is said.' }],
    renamed: [{ from: 'a:b.md', to: 'neurons/a-b.md' }],
    moved: [{ from: 'old.md', to: 'new.md' }],
    vanished: [{ path: 'gone.md', seqId: 'notes_00000007', neuronPath: 'neurons/gone.md' }],
    removalsProposed: 1,
    unresolved: [...unresolved, { path: 'e.md', target: 'guide/', reason: 'folder' }, ambiguous],
    partial: [],
  })
  expect(report.split('\n')).toEqual([
    '1 Neurons created, 2 updated, 3 unchanged; 5 attachments imported.',
    'Files in the folder: 6 notes, 289 attachments (289 .mdx), 0 skipped.',
    'Links of what is new or changed: 7 to Neurons, 8 to files, 0 to other knowledge bases, 27 that do not resolve.',
    '1 conflict with what a curator has changed, and wait in the queue.',
    '1 removals are proposed, and wait in the queue.',
    '',
    'Renamed (1):',
    '  a:b.md -> neurons/a-b.md',
    '',
    'Renamed in the folder (1):',
    '  old.md -> new.md',
    '',
    'No longer in the folder (1):',
    '  gone.md: notes_00000007',
    '',
    'Conflicts (1):',
    '  c.md: candidate 019caed1',
    '',
    'Notices (1):',
    '  d.md:3: Something is said.',
    '',
    'Links that lead nowhere (25):',
    ...unresolved.slice(0, 20).map(({ target }) => `  neurons/a.md: [[${target}]]`),
    '  and 5 more',
    '',
    'Links to folders that have no page of their own (1):',
    '  e.md: [[guide/]]',
    '',
    'Links that may mean several Neurons (1):',
    '  neurons/b.md: [[x [2J]]',
  ])
})

test('a progress bar is drawn on a terminal only', () => {
  const written: string[] = []
  const stream = (isTTY: boolean) => ({ isTTY, write: (text: string) => written.push(text) > 0 })
  progressBar(stream(false)).show(1, 2)
  expect(written).toEqual([])
  const bar = progressBar(stream(true))
  bar.show(5, 10)
  bar.clear()
  expect(written).toEqual([`\r\u001b[K[${'#'.repeat(15)}${' '.repeat(15)}] 5 of 10 files`, '\r\u001b[K'])
})

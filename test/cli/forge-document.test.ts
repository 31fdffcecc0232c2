import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { startGitea } from '../forge/support/described-gitea.ts'
import { startGitlab } from '../forge/support/described-gitlab.ts'
import { startGithub } from '../forge/support/emulated-github.ts'
import { tempDir } from '../support/temp.ts'
import { threads } from '../support/threads.ts'
import { ganglion } from './support.ts'

const document = readFileSync(new URL('../../docs/forges.md', import.meta.url), 'utf8')
const commandsOf = (text: string) =>
  [...text.replaceAll(/ *\\\n\s*/g, ' ').matchAll(/ganglion (forge [^`\n]+)/g)].map(([, words = '']) =>
    words.split(' '),
  )
const linking = commandsOf([...document.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join('\n'))
const others = commandsOf([...document.matchAll(/^\| (`ganglion forge .*?`) \|/gm)].map(([, cell]) => cell).join('\n'))

const starts = {
  'https://github.com/acme/handbook': startGithub,
  'https://git.example.org/acme/handbook': () => startGitea('forgejo'),
  'https://gitlab.com/acme/docs/handbook': startGitlab,
}

test('the document sets each of them up', () => {
  expect(linking.map(([, verb, url]) => [verb, url])).toEqual(Object.keys(starts).map((url) => ['link', url]))
  expect(others.map(([, verb]) => verb)).toEqual(['status', 'sync', 'unlink'])
})

test.each(linking)('%s %s %s … as the document has it', async (...words) => {
  const [url = ''] = words.slice(2)
  const forge = await starts[url as keyof typeof starts]()
  const data = tempDir()
  const opened = await openContext({ dataDir: data, threads })
  await createKnowledgeBase(opened, { tenant: 'default', slug: 'demo' })
  await opened.close()
  const key = join(tempDir(), 'app.pem')
  if ('app' in forge) writeFileSync(key, forge.app.privateKey)
  const env = {
    GANGLION_DATA: data,
    GANGLION_PUBLIC_URL: 'https://kb.example.org',
    GANGLION_FORGE_TOKEN: forge.token.token,
    GANGLION_FORGE_HOOK: 'hush',
  }
  // Nothing is another than in the document but what is elsewhere here.
  const place: Record<string, string> = { [url]: forge.url, 'file:/etc/ganglion/app.pem': `file:${key}` }
  if ('app' in forge) place['12345'] = forge.app.appId
  const run = (asked: readonly string[], ...more: string[]) =>
    ganglion([...asked.map((word) => place[word] ?? word), ...more], env)
  const here = [...(words.includes('--kind') ? [] : ['--kind', forge.kind]), '--api-url', forge.apiUrl]
  const linked = await run(words, ...here)
  const name = forge.kind === 'github' ? 'Ganglion' : forge.kind === 'gitlab' ? 'Acme' : 'acme'
  expect(linked).toMatchObject({ code: 0, stderr: '' })
  const said = `Linked demo to ${forge.url}, as ${name}. A running server begins within 5 seconds.\n`
  expect(linked.stdout).toContain(`${said}Send its webhooks, as JSON, to https://kb.example.org/forge/`)
  const [status = [], sync = [], unlink = []] = others
  expect(await run(sync)).toMatchObject({ code: 0, stdout: `demo and ${forge.url} are the same.\n` })
  expect(forge.git.branches()).toEqual(['main'])
  expect((await run(status)).stdout).toContain('well')
  expect((await run(unlink)).stdout).toBe(`demo is no longer linked to ${forge.url}.\n`)
  expect(forge.wrong).toEqual([])
})
